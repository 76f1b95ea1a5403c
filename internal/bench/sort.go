package bench

import (
	"context"

	"github.com/vkds/vkds/structures/primitives"
)

var sortOps = operations[*primitiveSession]{
	{Op{"keys", "radix sort of n 32-bit keys", true}, (*primitiveSession).sortKeys},
	{Op{"pairs", "radix sort of n 32-bit keys with 32-bit values", true}, (*primitiveSession).sortPairs},
}

func (s *primitiveSession) sortKeys(ctx context.Context) error  { return s.sort(ctx, "keys", false) }
func (s *primitiveSession) sortPairs(ctx context.Context) error { return s.sort(ctx, "pairs", true) }

func (s *primitiveSession) sort(ctx context.Context, op string, pairs bool) error {
	keys, err := s.filled(ctx, "keys "+s.keys.order.String(), s.keys.key)
	if err != nil {
		return err
	}
	out, err := s.buffer("out")
	if err != nil {
		return err
	}
	scratch, err := s.scratchFor(s.p.SortScratch(s.n, pairs))
	if err != nil {
		return err
	}
	a := primitives.SortArgs{Keys: keys.Address(), OutKeys: out.Address(), Length: primitives.Length{N: s.n}, Scratch: scratch}
	check := func(ctx context.Context) error { return s.checkAscending(ctx, op, out, s.keys.key) }
	if pairs {
		values, err := s.indices(ctx)
		if err != nil {
			return err
		}
		moved, err := s.buffer("out values")
		if err != nil {
			return err
		}
		a.Values, a.OutValues = values.Address(), moved.Address()
		check = func(ctx context.Context) error { return s.checkStable(ctx, op, out, moved, s.keys.key) }
	}
	return s.time(ctx, op, 0, func() error { return s.p.Sort(s.stream, a) }, check)
}
