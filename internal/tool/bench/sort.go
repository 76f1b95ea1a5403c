package bench

import (
	"context"

	"github.com/vkds/vkds/structures/primitives"
)

// sortOf measures the sort of keys, or of pairs.
func sortOf(pairs bool) func(*session, context.Context) error {
	return func(s *session, ctx context.Context) error { return s.sort(ctx, pairs) }
}

func (s *session) sort(ctx context.Context, pairs bool) error {
	keys, err := s.elements(ctx, "keys "+s.keys.order.String(), s.keys.key)
	if err != nil {
		return err
	}
	out, err := s.roomFor("out", s.n)
	if err != nil {
		return err
	}
	widths := primitives.Widths{Key: s.width, Value: s.width}
	scratch, err := s.scratchFor(s.bulk().SortScratch(s.n, pairs, widths))
	if err != nil {
		return err
	}
	a := primitives.SortArgs{Keys: keys.Address(), OutKeys: out.Address(), Length: primitives.Length{N: s.n},
		Widths: widths, Scratch: scratch}
	check := func(ctx context.Context) error { return s.checkAscending(ctx, out, s.keys.key) }
	if pairs {
		values, moved, err := s.payload(ctx)
		if err != nil {
			return err
		}
		a.Values, a.OutValues = values.Address(), moved.Address()
		check = func(ctx context.Context) error { return s.checkStable(ctx, out, moved, s.keys.key) }
	}
	return s.time(ctx, 0, func() error { return s.bulk().Sort(s.stream, a) }, check)
}
