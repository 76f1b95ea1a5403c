package bench

import (
	"context"

	"github.com/vkds/vkds/structures/primitives"
)

// mergeOf measures the merge of keys, or of pairs.
func mergeOf(pairs bool) func(*session, context.Context) error {
	return func(s *session, ctx context.Context) error { return s.merge(ctx, pairs) }
}

// merge merges the first half of an array with the second: both ascend. The rate is that of the output.
func (s *session) merge(ctx context.Context, pairs bool) error {
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
	scratch, err := s.scratchFor(s.bulk().MergeScratch(s.n))
	if err != nil {
		return err
	}
	args := primitives.MergeArgs{
		A:       primitives.Run{Keys: keys.Address(), Length: primitives.Length{N: half}},
		B:       primitives.Run{Keys: keys.AddressOf(half), Length: primitives.Length{N: s.n - half}},
		OutKeys: out.Address(), Scratch: scratch,
	}
	check := func(ctx context.Context) error { return s.checkAscending(ctx, out, key) }
	bytes := 8
	if pairs {
		values, moved, err := s.payload(ctx)
		if err != nil {
			return err
		}
		args.A.Values, args.B.Values, args.OutValues = values.Address(), values.AddressOf(half), moved.Address()
		check = func(ctx context.Context) error { return s.checkStable(ctx, out, moved, key) }
		bytes = 16
	}
	return s.time(ctx, bytes, func() error { return s.bulk().Merge(s.stream, args) }, check)
}
