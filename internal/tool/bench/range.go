package bench

import (
	"context"
	"slices"
	"sort"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// rangePairs is about how many pairs a measured batch of ranges has.
const rangePairs = 1 << 26

// ranges are as many ranges as there are pairs, but no more than come to rangePairs: lo is a key, and hi so far above
// it that a range has so many pairs on the average.
type ranges struct {
	ends   []uint32 // lo and hi of each
	buffer *vk.Buffer[uint32]
	sorted []uint32 // all keys that are there
}

func (r ranges) n() int { return len(r.ends) / 2 }

// keys are those in range i, in order.
func (r ranges) keys(i int) []uint32 {
	from := r.sorted[r.begin(i):]
	return from[:sort.Search(len(from), func(j int) bool { return from[j] > r.ends[2*i+1] })]
}

// begin is the place of the first key of range i among all.
func (r ranges) begin(i int) int {
	at, _ := slices.BinarySearch(r.sorted, r.ends[2*i])
	return at
}

func (s *session) rangesOf(ctx context.Context, pairs, length int) (ranges, error) {
	n := min(pairs, rangePairs/length)
	reach := uint64(float64(length) / float64(pairs) * (1 << 32))
	r := ranges{ends: make([]uint32, 2*n), sorted: s.inOrder(pairs)}
	each(r.n(), func(i int) error {
		lo := s.keys.key(s.order.at(i) % pairs)
		r.ends[2*i], r.ends[2*i+1] = lo, uint32(min(uint64(lo)+reach-1, 1<<32-1))
		return nil
	})
	var err error
	r.buffer, err = s.batchOf(ctx, "ranges", len(r.ends), func(i int) uint32 { return r.ends[i] })
	return r, err
}

// eachRanges makes ranges of each length asked for, in each arrangement of levels.
func (s *session) eachRanges(ctx context.Context, do func(r ranges, m Measurement) error) error {
	return s.eachLevels(ctx, func(m Measurement) error {
		for _, length := range s.options.Lengths {
			r, err := s.rangesOf(ctx, m.N, length)
			if err != nil {
				return err
			}
			m.Operations, m.Length = r.n(), length
			if err := do(r, m); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *session) count(ctx context.Context) error {
	return s.eachRanges(ctx, func(r ranges, m Measurement) error {
		counts, err := s.room("counts", r.n())
		if err != nil {
			return err
		}
		c := structures.DeviceCounts{Count: r.n(), Ranges: r.buffer, Counts: counts}
		return s.add(s.measure(ctx, task{
			Measurement: m,
			record:      func() error { return s.dictionary.(ordered).queries(s.stream).Count(c) },
			check: func(ctx context.Context) error {
				got, err := downloaded(ctx, counts, r.n())
				if err != nil {
					return err
				}
				return each(r.n(), func(i int) error { return s.checkNumber(i, got[i], r.keys(i)) })
			},
		}))
	})
}

// list measures ranges of any number of pairs, which stand one behind the other.
func (s *session) list(ctx context.Context) error {
	return s.eachRanges(ctx, func(r ranges, m Measurement) error {
		begins := make([]uint32, r.n()+1) // where the pairs of each range are to be
		each(r.n(), func(i int) error { begins[i+1] = uint32(len(r.keys(i))); return nil })
		for i := range r.n() {
			begins[i+1] += begins[i]
		}
		total := int(begins[r.n()])
		d := structures.DeviceRanges{Count: r.n(), Ranges: r.buffer}
		var err error
		if d.Offsets, err = s.room("offsets", len(begins)); err != nil {
			return err
		}
		if d.Keys, d.Values, err = s.listed(total); err != nil {
			return err
		}
		if d.Candidates, err = vk.NewBuffer[uint64](s.d, 1); err != nil {
			return err
		}
		defer d.Candidates.Free()
		return s.add(s.measure(ctx, task{
			Measurement: m,
			record:      func() error { return s.dictionary.(ordered).queries(s.stream).Range(d) },
			check: func(ctx context.Context) error {
				at, err := downloaded(ctx, d.Offsets, len(begins))
				if err != nil {
					return err
				}
				if err := each(r.n(), func(i int) error {
					return s.checkNumber(i, at[i+1]-at[i], r.keys(i))
				}); err != nil {
					return err
				}
				if at[0] != 0 {
					return s.wrong("the first pair is at %d", at[0])
				}
				return s.checkListed(ctx, d.Keys, d.Values, total, r,
					func(i int) (int, []uint32) { return int(begins[i]), r.keys(i) })
			},
		}))
	})
}

// listFirst measures what other trees call a range query: a fixed number of pairs of each range, which so go to places
// that need not be counted first.
func (s *session) listFirst(ctx context.Context) error {
	return s.eachRanges(ctx, func(r ranges, m Measurement) error {
		for i := range r.n() {
			r.ends[2*i+1] = ^uint32(0)
		}
		if _, err := s.batchOf(ctx, "ranges", len(r.ends), func(i int) uint32 { return r.ends[i] }); err != nil {
			return err
		}
		w := structures.DeviceWindow{Count: r.n(), Width: m.Length, Ranges: r.buffer}
		var err error
		if w.Keys, w.Values, err = s.listed(w.Count * w.Width); err != nil {
			return err
		}
		if w.Counts, err = s.room("counts", w.Count); err != nil {
			return err
		}
		first := func(i int) []uint32 {
			from := r.sorted[r.begin(i):]
			return from[:min(w.Width, len(from))]
		}
		return s.add(s.measure(ctx, task{
			Measurement: m,
			record:      func() error { return s.dictionary.(treeTable).On(s.stream).Window(w) },
			check: func(ctx context.Context) error {
				got, err := downloaded(ctx, w.Counts, w.Count)
				if err != nil {
					return err
				}
				if err := each(r.n(), func(i int) error { return s.checkNumber(i, got[i], first(i)) }); err != nil {
					return err
				}
				return s.checkListed(ctx, w.Keys, w.Values, w.Count*w.Width, r,
					func(i int) (int, []uint32) { return i * w.Width, first(i) })
			},
		}))
	})
}

// listed are buffers for so many pairs of ranges.
func (s *session) listed(pairs int) (keys, values *vk.Buffer[uint32], err error) {
	if keys, err = s.roomFor("listed keys", pairs); err == nil {
		values, err = s.roomFor("listed values", pairs)
	}
	return keys, values, err
}

func (s *session) checkNumber(i int, got uint32, want []uint32) error {
	if int(got) != len(want) {
		return s.wrong("range %d: %d pairs instead of %d", i, got, len(want))
	}
	return nil
}

// checkListed looks at the pairs of all ranges: want tells where those of each begin, and their keys.
func (s *session) checkListed(ctx context.Context, keys, values *vk.Buffer[uint32], pairs int, r ranges,
	want func(i int) (at int, keys []uint32)) error {
	k, err := s.downloadNumbers(ctx, keys, pairs)
	if err != nil {
		return err
	}
	v, err := s.downloadNumbers(ctx, values, pairs)
	if err != nil {
		return err
	}
	return each(r.n(), func(i int) error {
		at, all := want(i)
		for j, key := range all {
			if k.at(at+j) != s.element(key) || v.at(at+j) != s.element(s.space.value(key)) {
				return s.wrong("range %d, pair %d: %d, %d", i, j, k.at(at+j), v.at(at+j))
			}
		}
		return nil
	})
}
