package bench

import (
	"context"
	"slices"

	"github.com/vkds/vkds/structures"
)

// rank measures how many keys are less than each of as many as there are pairs, all present.
func (s *session) rank(ctx context.Context) error {
	return s.eachLevels(ctx, func(m Measurement) error {
		key := func(i int) uint32 { return s.keys.key(s.order.at(i) % m.N) }
		queries, err := s.batchOf(ctx, "batch keys", m.N, key)
		if err != nil {
			return err
		}
		ranks, err := s.room("ranks", m.N)
		if err != nil {
			return err
		}
		sorted := s.inOrder(m.N)
		q := structures.DeviceRanks{Count: m.N, Keys: queries, Ranks: ranks}
		return s.add(s.measure(ctx, task{
			Measurement: m,
			record:      func() error { return s.dictionary.(ordered).queries(s.stream).Rank(q) },
			check: func(ctx context.Context) error {
				got, err := downloaded(ctx, ranks, m.N)
				if err != nil {
					return err
				}
				return each(m.N, func(i int) error {
					if want, _ := slices.BinarySearch(sorted, key(i)); got[i] != uint32(want) {
						return s.wrong("key %d: rank %d instead of %d", key(i), got[i], want)
					}
					return nil
				})
			},
		}))
	})
}

// selectPairs measures the search for the pairs of as many ranks as there are, in no order.
func (s *session) selectPairs(ctx context.Context) error {
	return s.eachLevels(ctx, func(m Measurement) error {
		rank := func(i int) uint32 { return uint32(s.order.at(i) % m.N) }
		ranks, err := s.words(ctx, "ranks", m.N, rank)
		if err != nil {
			return err
		}
		keys, values, err := s.listed(m.N)
		if err != nil {
			return err
		}
		sorted := s.inOrder(m.N)
		q := structures.DeviceNeighbors{Count: m.N, Keys: ranks, OutKeys: keys, OutValues: values, Status: s.status}
		return s.add(s.measure(ctx, task{
			Measurement: m,
			record:      func() error { return s.dictionary.(ordered).queries(s.stream).Select(q) },
			check: func(ctx context.Context) error {
				k, v, err := s.pairsOf(ctx, keys, values, m.N)
				if err != nil {
					return err
				}
				return s.checkPairs(k, v, func(i int) uint32 { return sorted[rank(i)] })
			},
		}))
	})
}

// checkPairs looks whether pairs are those of some keys.
func (s *session) checkPairs(keys, values []uint32, want func(i int) uint32) error {
	return each(len(keys), func(i int) error {
		if key := want(i); keys[i] != key || values[i] != s.space.value(key) {
			return s.wrong("pair %d: %d, %d, instead of key %d", i, keys[i], values[i], key)
		}
		return nil
	})
}
