package bench

import (
	"context"

	"github.com/vkds/vkds/structures/primitives"
)

var mergeOps = operations[*primitiveSession]{
	{Op{"keys", "merge of two runs of n/2 keys each", false}, func(s *primitiveSession, ctx context.Context) error { return s.merge(ctx, "keys", false) }},
	{Op{"pairs", "merge of two runs of n/2 pairs each", true}, func(s *primitiveSession, ctx context.Context) error { return s.merge(ctx, "pairs", true) }},
}

// merge merges the first half of an array with the second: both ascend. The rate is that of the output.
func (s *primitiveSession) merge(ctx context.Context, op string, pairs bool) error {
	half := s.n / 2
	a, b := newSpread(half, s.o.Seed), newSpread(s.n-half, ^s.o.Seed)
	key := func(i int) uint32 {
		if i < half {
			return a.key(i)
		}
		return b.key(i - half)
	}
	keys, err := s.filled(ctx, "runs", key)
	if err != nil {
		return err
	}
	out, err := s.buffer("out")
	if err != nil {
		return err
	}
	scratch, err := s.scratchFor(s.p.MergeScratch(s.n))
	if err != nil {
		return err
	}
	args := primitives.MergeArgs{
		A:       primitives.Run{Keys: keys.Address(), Length: primitives.Length{N: half}},
		B:       primitives.Run{Keys: keys.AddressOf(half), Length: primitives.Length{N: s.n - half}},
		OutKeys: out.Address(), Scratch: scratch,
	}
	check := func(ctx context.Context) error { return s.checkAscending(ctx, op, out, key) }
	bytes := 8
	if pairs {
		values, err := s.indices(ctx)
		if err != nil {
			return err
		}
		moved, err := s.buffer("out values")
		if err != nil {
			return err
		}
		args.A.Values, args.B.Values, args.OutValues = values.Address(), values.AddressOf(half), moved.Address()
		check = func(ctx context.Context) error { return s.checkStable(ctx, op, out, moved, key) }
		bytes = 16
	}
	return s.time(ctx, op, bytes, func() error { return s.p.Merge(s.stream, args) }, check)
}
