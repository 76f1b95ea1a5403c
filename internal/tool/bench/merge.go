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
	keys, err := s.elements(ctx, "runs", key)
	if err != nil {
		return err
	}
	out, err := s.roomFor("out", s.n)
	if err != nil {
		return err
	}
	widths := primitives.Widths{Key: s.width, Value: s.width}
	scratch, err := s.scratchFor(s.bulk().MergeScratch(s.n, widths))
	if err != nil {
		return err
	}
	args := primitives.MergeArgs{
		A:       primitives.Run{Keys: keys.Address(), Length: primitives.Length{N: half}},
		B:       primitives.Run{Keys: keys.AddressOf(half << s.width), Length: primitives.Length{N: s.n - half}},
		Widths:  widths,
		OutKeys: out.Address(), Scratch: scratch,
	}
	check := func(ctx context.Context) error { return s.checkAscending(ctx, out, key) }
	bytes := 8 << s.width
	if pairs {
		values, moved, err := s.payload(ctx)
		if err != nil {
			return err
		}
		args.A.Values, args.B.Values = values.Address(), values.AddressOf(half<<s.width)
		args.OutValues = moved.Address()
		check = func(ctx context.Context) error { return s.checkStable(ctx, out, moved, key) }
		bytes *= 2
	}
	return s.time(ctx, bytes, func() error { return s.bulk().Merge(s.stream, args) }, check)
}
