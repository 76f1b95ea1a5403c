package bench

import (
	"slices"
	"sort"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// atLevels brings an LSM to its arrangement of levels, and other structures to n pairs. The measurement has as many
// operations as there are pairs; a cell may change that.
func (s *session) atLevels() Measurement {
	pairs := s.n
	if s.Name == "lsm" {
		pairs = batchesOf(s.at.Levels, s.n, s.batch) * s.batch
	}
	s.hold(pairs)
	m := s.measurement(pairs, pairs)
	if s.Name == "lsm" {
		m.Levels = s.at.Levels
	}
	return m
}

// lookups measures n lookups. of returns the key of each query among that many pairs, and whether it is there.
func (s *session) lookups(of func(i, pairs int) (key uint32, there bool)) {
	m := s.atLevels()
	pairs := m.N
	m.Operations = s.n
	queries, answers := s.asked(func(i int) uint32 { key, _ := of(i, pairs); return key })
	l := structures.DeviceLookups{Count: s.n, Keys: queries, Values: answers, Found: s.status}
	s.measure(m, task{
		record: func() error { return s.on().Find(l) },
		check: func() {
			s.checkFound(s.n, answers, func(i int) (uint32, bool) {
				key, there := of(i, pairs)
				return s.space.value(key), there
			})
		},
	})
}

// findPresent looks up present keys, in random order.
func (s *session) findPresent() {
	s.lookups(func(i, pairs int) (uint32, bool) { return s.keys.key(s.order.at(i) % pairs), true })
}

func (s *session) findAbsent() {
	s.lookups(func(i, _ int) (uint32, bool) { return s.keys.absent(s.order.at(i)), false })
}

// findSkewed looks up one key many times, and others once.
func (s *session) findSkewed() {
	r := newSkew(s)
	s.lookups(func(i, _ int) (uint32, bool) { return s.space.key(r.number(i)), true })
}

// findConcurrent looks up present keys with the kernel of the updates.
func (s *session) findConcurrent() {
	s.hold(s.n)
	queries, answers := s.asked(s.query)
	b := structures.DeviceBatch{Count: s.n, Keys: queries, Values: answers, Status: s.status, Left: s.left}
	s.measure(s.measurement(s.n, s.n), task{
		pending: true,
		record:  func() error { return s.apply(structures.Find, b) },
		check: func() {
			s.allAre(s.n, structures.Found)
			s.checkValues(answers, func(i int) (uint32, bool) { return s.space.value(s.query(i)), true })
		},
	})
}

// successor looks up the next greater key of present keys.
func (s *session) successor() {
	s.hold(s.n)
	queries, answers := s.asked(s.query)
	next, sorted := s.roomFor("next keys", s.n), s.inOrder(s.n)
	after := func(i int) (uint32, bool) {
		key := s.query(i)
		at := sort.Search(len(sorted), func(j int) bool { return sorted[j] > key })
		if at == len(sorted) {
			return 0, false
		}
		return sorted[at], true
	}
	d := structures.DeviceNeighbors{Count: s.n, Keys: queries, OutKeys: next, OutValues: answers, Status: s.status,
		Left: s.left}
	s.measure(s.measurement(s.n, s.n), task{
		pending: true,
		record:  func() error { return s.tree().On(s.stream).Neighbor(structures.Successor, d) },
		check: func() {
			s.checkStatus(s.n, func(i int) structures.Status {
				if _, there := after(i); there {
					return structures.Found
				}
				return structures.Absent
			})
			s.checkValues(next, func(i int) (uint32, bool) { k, _ := after(i); return k, true })
			s.checkValues(answers, func(i int) (uint32, bool) { k, there := after(i); return s.space.value(k), there })
		},
	})
}

// sortedQueries returns the queries of an ordered structure.
func (s *session) sortedQueries() structures.QueriesOnStream {
	return s.on().(structures.QueriesOnStream)
}

// ranges are as many ranges as there are pairs, but with at most rangePairs pairs in all. lo is a key, and hi - lo is
// such that a range has the setting's number of pairs on average.
type ranges struct {
	ends   []uint32 // lo and hi of each
	buffer *vk.Buffer[uint32]
	sorted []uint32 // all keys of the structure
}

// n returns the number of ranges.
func (r ranges) n() int { return len(r.ends) / 2 }

// keys returns the keys in range i, sorted.
func (r ranges) keys(i int) []uint32 {
	from := r.sorted[r.begin(i):]
	return from[:sort.Search(len(from), func(j int) bool { return from[j] > r.ends[2*i+1] })]
}

// begin returns the index of the first key of range i among all keys.
func (r ranges) begin(i int) int {
	at, _ := slices.BinarySearch(r.sorted, r.ends[2*i])
	return at
}

// ranges brings the structure to its pairs and makes ranges of them. Open ranges end with the greatest number.
func (s *session) ranges(open bool) (ranges, Measurement) {
	m := s.atLevels()
	n := min(m.N, rangePairs/m.Length)
	reach := uint64(float64(m.Length) / float64(m.N) * (1 << 32))
	r := ranges{ends: make([]uint32, 2*n), sorted: s.inOrder(m.N)}
	each(n, func(i int) {
		lo := s.keys.key(s.order.at(i) % m.N)
		r.ends[2*i], r.ends[2*i+1] = lo, uint32(min(uint64(lo)+reach-1, 1<<32-1))
		if open {
			r.ends[2*i+1] = ^uint32(0)
		}
	})
	r.buffer = s.batchOf("ranges", len(r.ends), func(i int) uint32 { return r.ends[i] })
	m.Operations = n
	return r, m
}

func (s *session) count() {
	r, m := s.ranges(false)
	c := structures.DeviceCounts{Count: r.n(), Ranges: r.buffer, Counts: s.room("counts", r.n())}
	s.measure(m, task{
		record: func() error { return s.sortedQueries().Count(c) },
		check: func() {
			s.checkWords("pairs of range", c.Counts, r.n(), func(i int) uint32 { return uint32(len(r.keys(i))) })
		},
	})
}

// list measures ranges of any number of pairs, whose results follow each other without gaps.
func (s *session) list() {
	r, m := s.ranges(false)
	begins := make([]uint32, r.n()+1) // the index of the first pair of each range in the result
	each(r.n(), func(i int) { begins[i+1] = uint32(len(r.keys(i))) })
	for i := range r.n() {
		begins[i+1] += begins[i]
	}
	total := int(begins[r.n()])
	d := structures.DeviceRanges{Count: r.n(), Ranges: r.buffer, Offsets: s.room("offsets", len(begins))}
	d.Keys, d.Values = s.listed(total)
	d.Candidates = must(vk.NewBuffer[uint64](s.d, 1))
	defer d.Candidates.Free()
	defer s.ending()
	s.measure(m, task{
		record: func() error { return s.sortedQueries().Range(d) },
		check: func() {
			s.checkWords("offset", d.Offsets, len(begins), func(i int) uint32 { return begins[i] })
			s.checkListed(d.Keys, d.Values, total, r, func(i int) (int, []uint32) { return int(begins[i]), r.keys(i) })
		},
	})
}

// listFirst measures what the papers of other trees call a range query: a fixed number of pairs of each range. Their
// places are known without counting.
func (s *session) listFirst() {
	r, m := s.ranges(true)
	w := structures.DeviceWindow{Count: r.n(), Width: m.Length, Ranges: r.buffer, Counts: s.room("counts", r.n())}
	w.Keys, w.Values = s.listed(w.Count * w.Width)
	first := func(i int) []uint32 {
		from := r.sorted[r.begin(i):]
		return from[:min(w.Width, len(from))]
	}
	s.measure(m, task{
		record: func() error { return s.tree().On(s.stream).Window(w) },
		check: func() {
			s.checkWords("pairs of range", w.Counts, w.Count, func(i int) uint32 { return uint32(len(first(i))) })
			s.checkListed(w.Keys, w.Values, w.Count*w.Width, r,
				func(i int) (int, []uint32) { return i * w.Width, first(i) })
		},
	})
}

// checkListed checks the pairs of all ranges. want returns the index of the first pair of each, and its keys.
func (s *session) checkListed(keys, values *vk.Buffer[uint32], pairs int, r ranges,
	want func(i int) (at int, keys []uint32)) {
	k, v := s.downloadNumbers(keys, pairs), s.downloadNumbers(values, pairs)
	each(r.n(), func(i int) {
		at, all := want(i)
		for j, key := range all {
			if k.at(at+j) != s.element(key) || v.at(at+j) != s.element(s.space.value(key)) {
				s.fail("range %d, pair %d: %d, %d", i, j, k.at(at+j), v.at(at+j))
			}
		}
	})
}

// rank measures how many keys are less than each of n present keys.
func (s *session) rank() {
	m := s.atLevels()
	key := func(i int) uint32 { return s.keys.key(s.order.at(i) % m.N) }
	q := structures.DeviceRanks{Count: m.N, Keys: s.batchOf("batch keys", m.N, key), Ranks: s.room("ranks", m.N)}
	sorted := s.inOrder(m.N)
	s.measure(m, task{
		record: func() error { return s.sortedQueries().Rank(q) },
		check: func() {
			s.checkWords("rank of key", q.Ranks, m.N, func(i int) uint32 {
				want, _ := slices.BinarySearch(sorted, key(i))
				return uint32(want)
			})
		},
	})
}

// selectPairs measures the lookups of the pairs of all ranks, in random order.
func (s *session) selectPairs() {
	m := s.atLevels()
	rank := func(i int) uint32 { return uint32(s.order.at(i) % m.N) }
	q := structures.DeviceNeighbors{Count: m.N, Keys: s.words("ranks", m.N, rank), Status: s.status}
	q.OutKeys, q.OutValues = s.listed(m.N)
	sorted := s.inOrder(m.N)
	s.measure(m, task{
		record: func() error { return s.sortedQueries().Select(q) },
		check: func() {
			s.checkPairs(q.OutKeys, q.OutValues, m.N, func(i int) (uint32, uint32) {
				return sorted[rank(i)], s.space.value(sorted[rank(i)])
			})
		},
	})
}

// export measures the export of all pairs, in key order if the structure is ordered.
func (s *session) export() {
	m := s.atLevels()
	e := structures.DeviceExport{Total: s.room("total", 1)}
	e.Keys, e.Values = s.listed(m.N)
	s.measure(m, task{
		record: func() error { return s.on().(structures.OnStream).Export(e) },
		check: func() {
			s.checkWords("number of pairs", e.Total, 1, func(int) uint32 { return uint32(m.N) })
			s.checkAll(s.downloadElements(e.Keys, m.N), s.downloadElements(e.Values, m.N))
		},
	})
}

// checkAll checks that the pairs are all pairs of the structure, once each.
func (s *session) checkAll(keys, values []uint32) {
	each(len(keys), func(i int) {
		if values[i] != s.space.value(keys[i]) {
			s.fail("pair %d: %d, %d", i, keys[i], values[i])
		}
	})
	if _, is := s.on().(structures.QueriesOnStream); !is {
		keys = inAscent(keys)
	}
	sorted := s.inOrder(len(keys))
	each(len(keys), func(i int) {
		if keys[i] != sorted[i] {
			s.fail("key %d: %d instead of %d", i, keys[i], sorted[i])
		}
	})
}
