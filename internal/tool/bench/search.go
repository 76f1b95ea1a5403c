package bench

import (
	"context"

	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// haystack is n sorted keys, and n queries: ascending ones are as many others, one in the part of each key.
type haystack struct{ keys, queries spread }

func (s *session) haystack() haystack {
	return haystack{newSpread(s.n, s.o.Seed), newSpread(s.n, ^s.o.Seed)}
}

// bound is the lower bound of ascending query i: key i if that is not below it, else the next one.
func (h haystack) bound(i int) uint32 {
	if h.keys.key(i) < h.queries.key(i) {
		return uint32(i + 1)
	}
	return uint32(i)
}

func (s *session) searchRandom(ctx context.Context) error {
	h := s.haystack()
	queries, err := s.elements(ctx, "random queries", func(i int) uint32 { return h.queries.key(s.order.at(i)) })
	if err != nil {
		return err
	}
	return s.search(ctx, false, h, queries, nil, func(i int) uint32 { return h.bound(s.order.at(i)) })
}

func (s *session) searchSorted(ctx context.Context) error {
	h := s.haystack()
	queries, err := s.elements(ctx, "sorted queries", h.queries.key)
	if err != nil {
		return err
	}
	return s.search(ctx, true, h, queries, nil, h.bound)
}

func (s *session) sortSearch(ctx context.Context) error {
	h := s.haystack()
	random, err := s.elements(ctx, "random queries", func(i int) uint32 { return h.queries.key(s.order.at(i)) })
	if err != nil {
		return err
	}
	sorted, err := s.roomFor("queries after their sort", s.n)
	if err != nil {
		return err
	}
	sort := primitives.SortArgs{Keys: random.Address(), OutKeys: sorted.Address(), Length: primitives.Length{N: s.n},
		Widths: primitives.Widths{Key: s.width}}
	return s.search(ctx, true, h, sorted, &sort, h.bound)
}

// search measures the lower bounds of queries, which ascend or don't, behind their sort if there is one.
func (s *session) search(ctx context.Context, ascend bool, h haystack, queries *vk.Buffer[uint32],
	sort *primitives.SortArgs, want func(i int) uint32) error {
	keys, err := s.elements(ctx, "sorted keys", h.keys.key)
	if err != nil {
		return err
	}
	out, err := s.buffer("out")
	if err != nil {
		return err
	}
	bytes := s.bulk().BoundsScratch(s.n, s.n, s.width)
	if sort != nil {
		bytes = max(bytes, s.bulk().SortScratch(s.n, false, sort.Widths))
	}
	scratch, err := s.scratchFor(bytes)
	if err != nil {
		return err
	}
	if sort != nil {
		sort.Scratch = scratch // which it needs no longer when the bounds are found
	}
	length := primitives.Length{N: s.n}
	a := primitives.BoundsArgs{Keys: keys.Address(), Length: length, Width: s.width, Queries: queries.Address(),
		Count: length, Out: out.Address(), Sorted: ascend, Scratch: scratch}
	return s.time(ctx, 0, func() error {
		if sort != nil {
			if err := s.bulk().Sort(s.stream, *sort); err != nil {
				return err
			}
		}
		return s.bulk().Bounds(s.stream, a)
	}, func(ctx context.Context) error {
		bounds, err := downloaded(ctx, out, s.n)
		if err != nil {
			return err
		}
		return each(s.n, func(i int) error {
			if bounds[i] != want(i) {
				return s.wrong("query %d: %d instead of %d", i, bounds[i], want(i))
			}
			return nil
		})
	})
}
