package bench

import (
	"fmt"
	"math/bits"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/structures/relational"
	"github.com/vkds/vkds/vk"
)

// bulk returns the primitives in the setting's form.
func (s *session) bulk() *primitives.Primitives {
	if s.primitives == nil {
		s.primitives = primitives.New(s.d, primitives.Options{Form: s.at.Form})
	}
	return s.primitives
}

// time measures an operation that moves at least that many bytes for each element.
func (s *session) time(bytes int, record func() error, check func()) {
	m := s.measurement(s.n, s.n)
	m.Bytes = uint64(bytes * s.n)
	s.measure(m, task{record: record, check: check})
}

// scratch returns the address of that many bytes of scratch memory.
func (s *session) scratch(bytes int) uint64 { return s.room("scratch", (bytes+3)/4).Address() }

// payload returns values that say where their pairs came from, and room for the output.
func (s *session) payload() (values, moved *vk.Buffer[uint32]) {
	return s.elements("indices", func(i int) uint32 { return uint32(i) }), s.roomFor("out values", s.n)
}

func (s *session) length() primitives.Length { return primitives.Length{N: s.n} }

func (s *session) widths() primitives.Widths { return primitives.Widths{Key: s.width, Value: s.width} }

// sort measures the sort of keys, or of pairs.
func (s *session) sort(pairs bool) {
	keys, out := s.elements("keys "+s.keys.order, s.keys.key), s.roomFor("out", s.n)
	a := primitives.SortArgs{Keys: keys.Address(), OutKeys: out.Address(), Length: s.length(), Widths: s.widths()}
	check := func() { s.checkAscending(out, s.keys.key) }
	if pairs {
		values, moved := s.payload()
		a.Values, a.OutValues = values.Address(), moved.Address()
		check = func() { s.checkStable(out, moved, s.n, s.keys.key) }
	}
	a.Scratch = s.scratch(s.bulk().Scratch(a))
	s.time(0, func() error { return s.bulk().Sort(s.stream, a) }, check)
}

// scan measures exclusive prefix sums.
func (s *session) scan() {
	in, out := s.elements("words", s.space.key), s.roomFor("out", s.n)
	a := primitives.ScanArgs{In: in.Address(), Out: out.Address(), Length: s.length(), Width: s.width}
	a.Scratch = s.scratch(s.bulk().Scratch(a))
	s.time(8<<s.width, func() error { return s.bulk().Scan(s.stream, a) }, func() {
		sums := s.downloadNumbers(out, s.n)
		// Sums are right if the first one is, and the difference of two neighbors is the element between them.
		each(s.n, func(i int) {
			before, between := uint64(0), uint64(0)
			if i > 0 {
				before, between = sums.at(i-1), s.element(s.space.key(i-1))
			}
			if sums.modulo(sums.at(i)-before) != between {
				s.fail("sum %d: %d", i, sums.at(i))
			}
		})
	})
}

func (s *session) reduce() {
	in, out := s.elements("words", s.space.key), s.room("sum", 2)
	a := primitives.ReduceArgs{In: in.Address(), Out: out.Address(), Length: s.length(), Width: s.width}
	a.Scratch = s.scratch(s.bulk().Scratch(a))
	var want atomic.Uint64
	parallel(s.n, func(first, end int) {
		sum := uint64(0)
		for i := first; i < end; i++ {
			sum += s.element(s.space.key(i))
		}
		want.Add(sum)
	})
	s.time(4<<s.width, func() error { return s.bulk().Reduce(s.stream, a) }, func() {
		if got := s.downloadNumbers(out, 1); got.at(0) != got.modulo(want.Load()) {
			s.fail("%d instead of %d", got.at(0), got.modulo(want.Load()))
		}
	})
}

// reduceByKey sums n numbers, in runs of about the same length, by so many keys.
func (s *session) reduceByKey(keys int) {
	keys = max(1, min(keys, s.n))
	keyOf := func(i int) int { return int(uint64(i) * uint64(keys) / uint64(s.n)) }
	in := s.elements(fmt.Sprint("runs of ", keys), func(i int) uint32 { return uint32(keyOf(i)) })
	values, out, counts := s.elements("words", s.space.key), s.roomFor("out", s.n), s.room("counts", s.n)
	sumWords := primitives.Unsigned.SumBytes(s.width) / 4
	sums, runs := s.room("sums", sumWords*s.n), s.room("count", 1)
	a := primitives.ReduceByKeyArgs{Keys: in.Address(), Values: values.Address(), OutKeys: out.Address(),
		OutCounts: counts.Address(), OutSums: sums.Address(), OutRuns: runs.Address(), Length: s.length(),
		Widths: s.widths()}
	a.Scratch = s.scratch(s.bulk().Scratch(a))
	s.time(8<<s.width, func() error { return s.bulk().ReduceByKey(s.stream, a) }, func() {
		s.checkWords("number of runs", runs, 1, func(int) uint32 { return uint32(keys) })
		got := s.download(sums, sumWords*keys)
		parallel(keys, func(first, end int) {
			i := sort.Search(s.n, func(i int) bool { return keyOf(i) >= first })
			for key := first; key < end; key++ {
				var low, high, carry uint64
				for ; i < s.n && keyOf(i) == key; i++ {
					low, carry = bits.Add64(low, s.element(s.space.key(i)), 0)
					high += carry
				}
				sum := [...]uint32{uint32(low), uint32(low >> 32), uint32(high), uint32(high >> 32)}
				if words := got[sumWords*key:][:sumWords]; !slices.Equal(words, sum[:sumWords]) {
					s.fail("the sum of key %d is %#x instead of %#x", key, words, sum[:sumWords])
				}
			}
		})
	})
}

// join joins keys with the same ones in another order.
func (s *session) join() {
	r, err := relational.New(s.d, relational.Options{})
	if err != nil {
		s.fail("%v", err)
	}
	defer r.Close()
	left := s.elements("words", s.space.key)
	right := s.elements("words in another order", func(i int) uint32 { return s.space.key(s.order.at(i)) })
	lefts, rights, count := s.room("left rows", s.n), s.room("right rows", s.n), s.room("results", 2)
	l := s.length()
	a := relational.JoinArgs{Lefts: left.Address(), Rights: right.Address(), LeftLength: l, RightLength: l,
		Width: s.width, OutLefts: lefts.Address(), OutRights: rights.Address(), Capacity: s.n,
		OutCount: count.Address()}
	a.Scratch = s.scratch(r.Scratch(a))
	s.time(8<<s.width, func() error { return r.On(s.stream).Join(a) }, func() {
		s.checkWords("number of results", count, 2, func(i int) uint32 { return []uint32{uint32(s.n), 0}[i] })
		s.checkWords("left row", lefts, s.n, func(i int) uint32 { return uint32(i) })
		found := s.download(rights, s.n)
		each(s.n, func(i int) {
			if row := int(found[i]); row >= s.n || s.order.at(row) != i {
				s.fail("left row %d is joined with right row %d", i, row)
			}
		})
	})
}

// compactPairs keeps the pairs whose place in a random order is below n/2, so their number is known.
func (s *session) compactPairs() {
	kept := func(i int) bool { return s.order.at(i) < s.n/2 }
	keys, out, count := s.elements("words", s.space.key), s.roomFor("out", s.n), s.room("count", 1)
	values, moved := s.payload()
	flags := s.words("flags", (s.n+31)/32, func(w int) (word uint32) {
		for b := range min(32, s.n-32*w) {
			if kept(32*w + b) {
				word |= 1 << b
			}
		}
		return word
	})
	a := primitives.CompactArgs{Keys: keys.Address(), Values: values.Address(), Flags: flags.Address(),
		Length: s.length(), OutKeys: out.Address(), OutValues: moved.Address(), OutCount: count.Address(),
		Widths: s.widths()}
	a.Scratch = s.scratch(s.bulk().Scratch(a))
	s.time(12<<s.width, func() error { return s.bulk().Compact(s.stream, a) }, func() {
		s.checkWords("number of pairs", count, 1, func(int) uint32 { return uint32(s.n / 2) })
		k, v := s.downloadElements(out, s.n/2), s.downloadElements(moved, s.n/2)
		each(len(v), func(i int) {
			if at := int(v[i]); at >= s.n || !kept(at) || k[i] != s.space.key(at) || i > 0 && v[i-1] >= v[i] {
				s.fail("place %d: %d, %d", i, k[i], v[i])
			}
		})
	})
}

// merge merges the two halves of an array, which ascend. The rate is that of the output.
func (s *session) merge() {
	half := s.n / 2
	a, b := newSpread(half, s.o.Seed), newSpread(s.n-half, ^s.o.Seed)
	key := func(i int) uint32 {
		if i < half {
			return a.key(i)
		}
		return b.key(i - half)
	}
	keys, out := s.elements("runs", key), s.roomFor("out", s.n)
	values, moved := s.payload()
	run := func(first, n int) primitives.Run {
		return primitives.Run{Keys: keys.AddressOf(first << s.width), Values: values.AddressOf(first << s.width),
			Length: primitives.Length{N: n}}
	}
	args := primitives.MergeArgs{A: run(0, half), B: run(half, s.n-half), Widths: s.widths(), OutKeys: out.Address(),
		OutValues: moved.Address()}
	args.Scratch = s.scratch(s.bulk().Scratch(args))
	s.time(16<<s.width, func() error { return s.bulk().Merge(s.stream, args) },
		func() { s.checkStable(out, moved, s.n, key) })
}

// search measures the lower bounds of n queries in n sorted keys. Query and key i are in the same n-th part of all
// numbers. The queries ascend or come in random order.
func (s *session) search(ascend bool) {
	keys, queries := newSpread(s.n, s.o.Seed), newSpread(s.n, ^s.o.Seed)
	place, name := s.order.at, "random queries" // the rank of query i
	if ascend {
		place, name = func(i int) int { return i }, "sorted queries"
	}
	asked, out := s.elements(name, func(i int) uint32 { return queries.key(place(i)) }), s.room("bounds", s.n)
	a := primitives.BoundsArgs{Keys: s.elements("sorted keys", keys.key).Address(), Length: s.length(), Width: s.width,
		Queries: asked.Address(), Count: s.length(), Out: out.Address(), Sorted: ascend}
	a.Scratch = s.scratch(s.bulk().Scratch(a))
	s.time(0, func() error { return s.bulk().Bounds(s.stream, a) }, func() {
		s.checkWords("query", out, s.n, func(i int) uint32 {
			at := place(i)
			if keys.key(at) < queries.key(at) {
				return uint32(at + 1)
			}
			return uint32(at)
		})
	})
}
