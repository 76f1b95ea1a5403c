package bench

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// rangePairs is about how many pairs a measured batch of ranges has.
const rangePairs = 1 << 26

// ranges makes as many ranges as there are pairs, but no more than come to rangePairs: lo is a key, and hi so far
// above it that a range has so many pairs on the average.
func (s *session) ranges(ctx context.Context, pairs, length int) (ends []uint32, b *vk.Buffer[uint32], err error) {
	n := min(pairs, rangePairs/length)
	reach := uint64(float64(length) / float64(pairs) * (1 << 32))
	ends = make([]uint32, 2*n)
	parallel(n, func(first, end int) error {
		for i := first; i < end; i++ {
			lo := s.keys.key(s.order.at(i) % pairs)
			ends[2*i], ends[2*i+1] = lo, uint32(min(uint64(lo)+reach-1, 1<<32-1))
		}
		return nil
	})
	if b, err = s.room("ranges", len(ends)); err == nil {
		err = b.Upload(ctx, 0, ends)
	}
	return ends, b, err
}

// within are the places of the keys of range i in their order.
func within(sorted, ends []uint32, i int) (from, to int) {
	from, _ = slices.BinarySearch(sorted, ends[2*i])
	return from, from + sort.Search(len(sorted)-from, func(j int) bool { return sorted[from+j] > ends[2*i+1] })
}

func (s *session) count(ctx context.Context) error {
	return s.eachLevels(ctx, func(pairs int, label string) error {
		for _, length := range s.options.Lengths {
			ends, ranges, err := s.ranges(ctx, pairs, length)
			if err != nil {
				return err
			}
			n := len(ends) / 2
			counts, err := s.room("counts", n)
			if err != nil {
				return err
			}
			m := s.measurement(pairs, n)
			m.Levels, m.Length = label, length
			sorted := s.inOrder(pairs)
			if err := s.add(s.measure(ctx, task{
				Measurement: m,
				record: func() error {
					return s.dictionary.(ordered).CountOn(s.stream, structures.DeviceCounts{Count: n, Ranges: ranges, Counts: counts})
				},
				check: func(ctx context.Context) error {
					got := make([]uint32, n)
					if err := counts.Download(ctx, 0, got); err != nil {
						return err
					}
					return parallel(n, func(first, end int) error {
						for i := first; i < end; i++ {
							if from, to := within(sorted, ends, i); int(got[i]) != to-from {
								return &WrongError{s.op.Name, fmt.Sprintf("range %d: %d instead of %d", i, got[i], to-from)}
							}
						}
						return nil
					})
				},
			})); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *session) list(ctx context.Context) error {
	return s.eachLevels(ctx, func(pairs int, label string) error {
		for _, length := range s.options.Lengths {
			ends, ranges, err := s.ranges(ctx, pairs, length)
			if err != nil {
				return err
			}
			n := len(ends) / 2
			sorted := s.inOrder(pairs)
			want := make([]int, n+1) // where the pairs of each range begin
			parallel(n, func(first, end int) error {
				for i := first; i < end; i++ {
					from, to := within(sorted, ends, i)
					want[i+1] = to - from
				}
				return nil
			})
			for i := range n {
				want[i+1] += want[i]
			}
			total := want[n]
			offsets, err := s.room("offsets", n+1)
			if err != nil {
				return err
			}
			keys, err := s.room("listed keys", total)
			if err != nil {
				return err
			}
			values, err := s.room("listed values", total)
			if err != nil {
				return err
			}
			candidates, err := vk.NewBuffer[uint64](s.d, 1)
			if err != nil {
				return err
			}
			defer candidates.Free()
			m := s.measurement(pairs, n)
			m.Levels, m.Length = label, length
			if err := s.add(s.measure(ctx, task{
				Measurement: m,
				record: func() error {
					return s.dictionary.(ordered).RangeOn(s.stream, structures.DeviceRanges{Count: n, Ranges: ranges, Offsets: offsets, Keys: keys, Values: values, Candidates: candidates})
				},
				check: func(ctx context.Context) error {
					at, k, v := make([]uint32, n+1), make([]uint32, total), make([]uint32, total)
					if err := offsets.Download(ctx, 0, at); err != nil {
						return err
					}
					if err := keys.Download(ctx, 0, k); err != nil {
						return err
					}
					if err := values.Download(ctx, 0, v); err != nil {
						return err
					}
					return parallel(n, func(first, end int) error {
						for i := first; i < end; i++ {
							from, _ := within(sorted, ends, i)
							if int(at[i]) != want[i] || int(at[i+1]) != want[i+1] {
								return &WrongError{s.op.Name, fmt.Sprintf("range %d: pairs %d to %d instead of %d to %d", i, at[i], at[i+1], want[i], want[i+1])}
							}
							for j := want[i]; j < want[i+1]; j++ {
								if key := sorted[from+j-want[i]]; k[j] != key || v[j] != s.space.value(key) {
									return &WrongError{s.op.Name, fmt.Sprintf("range %d, pair %d: %d, %d", i, j-want[i], k[j], v[j])}
								}
							}
						}
						return nil
					})
				},
			})); err != nil {
				return err
			}
		}
		return nil
	})
}

// listFirst measures what other trees call a range query: a fixed number of pairs of each range, which so go to places
// that need not be counted first.
func (s *session) listFirst(ctx context.Context) error {
	if err := s.hold(ctx, s.n); err != nil {
		return err
	}
	t := s.dictionary.(treeTable)
	sorted := s.inOrder(s.n)
	for _, length := range s.options.Lengths {
		ends, ranges, err := s.ranges(ctx, s.n, length)
		if err != nil {
			return err
		}
		for i := 1; i < len(ends); i += 2 {
			ends[i] = ^uint32(0)
		}
		if err := ranges.Upload(ctx, 0, ends); err != nil {
			return err
		}
		n := len(ends) / 2
		w := btree.DeviceWindow{Count: n, Width: length, Ranges: ranges}
		for _, b := range []struct {
			to    **vk.Buffer[uint32]
			name  string
			words int
		}{{&w.Keys, "listed keys", n * length}, {&w.Values, "listed values", n * length}, {&w.Counts, "counts", n}} {
			if *b.to, err = s.room(b.name, b.words); err != nil {
				return err
			}
		}
		m := s.measurement(s.n, n)
		m.Length = length
		if err := s.add(s.measure(ctx, task{
			Measurement: m,
			record:      func() error { return t.RangesOf(s.stream, w) },
			check: func(ctx context.Context) error {
				counts, keys, values := make([]uint32, n), make([]uint32, n*length), make([]uint32, n*length)
				for _, b := range []struct {
					from *vk.Buffer[uint32]
					to   []uint32
				}{{w.Counts, counts}, {w.Keys, keys}, {w.Values, values}} {
					if err := b.from.Download(ctx, 0, b.to); err != nil {
						return err
					}
				}
				return parallel(n, func(first, end int) error {
					for i := first; i < end; i++ {
						from, _ := within(sorted, ends, i)
						want := sorted[from:min(from+length, len(sorted))]
						if int(counts[i]) != len(want) {
							return &WrongError{s.op.Name, fmt.Sprintf("range %d: %d pairs instead of %d", i, counts[i], len(want))}
						}
						for j, key := range want {
							if k, v := keys[i*length+j], values[i*length+j]; k != key || v != s.space.value(key) {
								return &WrongError{s.op.Name, fmt.Sprintf("range %d, pair %d: %d, %d", i, j, k, v)}
							}
						}
					}
					return nil
				})
			},
		})); err != nil {
			return err
		}
	}
	return nil
}
