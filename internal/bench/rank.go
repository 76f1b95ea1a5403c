package bench

import (
	"context"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// ranked is a dictionary that is asked by ranks.
type ranked interface {
	RankOn(*vk.Stream, structures.DeviceRanks) error
	SelectOn(*vk.Stream, structures.DeviceNeighbors) error
}

// exporting is a dictionary whose pairs are written to buffers.
type exporting interface {
	ExportOn(*vk.Stream, structures.DeviceExport) error
}

// rank measures how many keys are less than each of as many as there are pairs, all present.
func (s *session) rank(ctx context.Context) error {
	return s.eachLevels(ctx, func(pairs int, label string) error {
		key := func(i int) uint32 { return s.keys.key(s.order.at(i) % pairs) }
		queries, err := s.batchOf(ctx, "batch keys", pairs, key)
		if err != nil {
			return err
		}
		ranks, err := s.room("ranks", pairs)
		if err != nil {
			return err
		}
		sorted, m := s.inOrder(pairs), s.measurement(pairs, pairs)
		m.Levels = label
		q := structures.DeviceRanks{Count: pairs, Keys: queries, Ranks: ranks}
		return s.add(s.measure(ctx, task{
			Measurement: m,
			record:      func() error { return s.dictionary.(ranked).RankOn(s.stream, q) },
			check: func(ctx context.Context) error {
				got, err := downloaded(ctx, ranks, pairs)
				if err != nil {
					return err
				}
				return each(pairs, func(i int) error {
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
	return s.eachLevels(ctx, func(pairs int, label string) error {
		rank := func(i int) uint32 { return uint32(s.order.at(i) % pairs) }
		ranks, err := s.batchOf(ctx, "batch keys", pairs, rank)
		if err != nil {
			return err
		}
		keys, values, err := s.listed(pairs)
		if err != nil {
			return err
		}
		sorted, m := s.inOrder(pairs), s.measurement(pairs, pairs)
		m.Levels = label
		q := structures.DeviceNeighbors{Count: pairs, Keys: ranks, OutKeys: keys, OutValues: values, Status: s.status}
		return s.add(s.measure(ctx, task{
			Measurement: m,
			record:      func() error { return s.dictionary.(ranked).SelectOn(s.stream, q) },
			check: func(ctx context.Context) error {
				return s.checkPairs(ctx, keys, values, pairs, func(i int) uint32 { return sorted[rank(i)] })
			},
		}))
	})
}

// export measures the writing of all pairs in key order.
func (s *session) export(ctx context.Context) error {
	return s.eachLevels(ctx, func(pairs int, label string) error {
		keys, values, err := s.listed(pairs)
		if err != nil {
			return err
		}
		total, err := s.room("total", 1)
		if err != nil {
			return err
		}
		sorted, m := s.inOrder(pairs), s.measurement(pairs, pairs)
		m.Levels = label
		e := structures.DeviceExport{Keys: keys, Values: values, Total: total}
		return s.add(s.measure(ctx, task{
			Measurement: m,
			record:      func() error { return s.dictionary.(exporting).ExportOn(s.stream, e) },
			check: func(ctx context.Context) error {
				n, err := downloaded(ctx, total, 1)
				if err == nil && int(n[0]) != pairs {
					err = s.wrong("%d pairs instead of %d", n[0], pairs)
				}
				if err != nil {
					return err
				}
				return s.checkPairs(ctx, keys, values, pairs, func(i int) uint32 { return sorted[i] })
			},
		}))
	})
}

// checkPairs looks whether pairs are those of some keys.
func (s *session) checkPairs(ctx context.Context, keys, values *vk.Buffer[uint32], n int, want func(i int) uint32) error {
	k, err := downloaded(ctx, keys, n)
	if err != nil {
		return err
	}
	v, err := downloaded(ctx, values, n)
	if err != nil {
		return err
	}
	return each(n, func(i int) error {
		if key := want(i); k[i] != key || v[i] != s.space.value(key) {
			return s.wrong("pair %d: %d, %d, instead of key %d", i, k[i], v[i], key)
		}
		return nil
	})
}
