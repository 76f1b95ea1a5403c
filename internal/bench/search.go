package bench

import (
	"context"

	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

var searchOps = operations[*primitiveSession]{
	{Op{"random", "lower bound of n queries, in random order, in n sorted keys", true}, (*primitiveSession).searchRandom},
	{Op{"sorted", "lower bound of n queries that ascend", true}, (*primitiveSession).searchSorted},
	{Op{"sort-search", "sort of n queries, and their lower bounds", true}, (*primitiveSession).sortSearch},
}

// haystack is n sorted keys, and n queries: ascending ones are as many others, one in the part of each key.
type haystack struct{ keys, queries spread }

func (s *primitiveSession) haystack() haystack {
	return haystack{newSpread(s.n, s.o.Seed), newSpread(s.n, ^s.o.Seed)}
}

// bound is the lower bound of ascending query i: key i if that is not below it, else the next one.
func (h haystack) bound(i int) uint32 {
	if h.keys.key(i) < h.queries.key(i) {
		return uint32(i + 1)
	}
	return uint32(i)
}

func (s *primitiveSession) searchRandom(ctx context.Context) error {
	h := s.haystack()
	queries, err := s.filled(ctx, "random queries", func(i int) uint32 { return h.queries.key(s.order.at(i)) })
	if err != nil {
		return err
	}
	return s.search(ctx, "random", h, queries, nil, func(i int) uint32 { return h.bound(s.order.at(i)) })
}

func (s *primitiveSession) searchSorted(ctx context.Context) error {
	h := s.haystack()
	queries, err := s.filled(ctx, "sorted queries", h.queries.key)
	if err != nil {
		return err
	}
	return s.search(ctx, "sorted", h, queries, nil, h.bound)
}

func (s *primitiveSession) sortSearch(ctx context.Context) error {
	h := s.haystack()
	random, err := s.filled(ctx, "random queries", func(i int) uint32 { return h.queries.key(s.order.at(i)) })
	if err != nil {
		return err
	}
	sorted, err := s.buffer("queries after their sort")
	if err != nil {
		return err
	}
	sort := primitives.SortArgs{Keys: random.Address(), OutKeys: sorted.Address(), Length: primitives.Length{N: s.n}}
	return s.search(ctx, "sort-search", h, sorted, &sort, h.bound)
}

// search measures the lower bounds of queries, behind their sort if there is one.
func (s *primitiveSession) search(ctx context.Context, op string, h haystack, queries *vk.Buffer[uint32], sort *primitives.SortArgs, want func(i int) uint32) error {
	keys, err := s.filled(ctx, "sorted keys", h.keys.key)
	if err != nil {
		return err
	}
	out, err := s.buffer("out")
	if err != nil {
		return err
	}
	bytes := s.p.BoundsScratch(s.n, s.n)
	if sort != nil {
		bytes = max(bytes, s.p.SortScratch(s.n, false))
	}
	scratch, err := s.scratchFor(bytes)
	if err != nil {
		return err
	}
	if sort != nil {
		sort.Scratch = scratch // which it needs no longer when the bounds are found
	}
	length := primitives.Length{N: s.n}
	a := primitives.BoundsArgs{Keys: keys.Address(), Length: length, Queries: queries.Address(), Count: length, Out: out.Address(), Sorted: op != "random", Scratch: scratch}
	return s.time(ctx, op, 0, func() error {
		if sort != nil {
			if err := s.p.Sort(s.stream, *sort); err != nil {
				return err
			}
		}
		return s.p.Bounds(s.stream, a)
	}, func(ctx context.Context) error {
		return s.checkValues(ctx, op, out, func(i int) (uint32, bool) { return want(i), true })
	})
}
