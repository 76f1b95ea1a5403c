package bench

import (
	"sync/atomic"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// sound checks that the structure has that many pairs, and checks the memory of a tree.
func (s *session) sound(pairs int) {
	if n := must(s.dictionary.Len(s.ctx)); n != uint64(pairs) {
		s.fail("%d pairs there instead of %d", n, pairs)
	}
	if t, is := s.dictionary.(tree); is {
		ok(t.Inspect().Check(s.ctx))
	}
}

// holdsAll checks that the structure has exactly the first pairs of the sequence.
func (s *session) holdsAll(pairs int) {
	s.sound(pairs)
	s.finds(func(i int) (uint32, bool) { return s.space.value(s.query(i)), s.order.at(i) < pairs })
}

// finds looks all n keys up and checks the answers.
func (s *session) finds(want func(i int) (value uint32, there bool)) {
	queries, answers := s.asked(s.query)
	s.found(s.n, queries, answers, want)
}

// found looks n keys up and checks the answers. want returns the value of each, and whether its key is there.
func (s *session) found(n int, queries, answers *vk.Buffer[uint32], want func(i int) (uint32, bool)) {
	ok(s.on().Find(structures.DeviceLookups{Count: n, Keys: queries, Values: answers,
		Found: s.status}))
	s.wait()
	s.checkFound(n, answers, want)
}

// checkFound checks the answers of n lookups.
func (s *session) checkFound(n int, answers *vk.Buffer[uint32], want func(i int) (uint32, bool)) {
	ok(s.status.Download(s.ctx, 0, s.bytes[:n]))
	keysOnly := s.keysOnly()
	var values []uint32
	if !keysOnly {
		values = s.downloadElements(answers, n)
	}
	each(n, func(i int) {
		value, there := want(i)
		if !there {
			value = 0
		}
		if got := s.bytes[i] != 0; got != there {
			s.fail("query %d: found is %t instead of %t", i, got, there)
		}
		if !keysOnly && values[i] != value {
			s.fail("query %d: value %d instead of %d", i, values[i], value)
		}
	})
}

// checkStatus compares the statuses of n operations with the expected ones.
func (s *session) checkStatus(n int, want func(i int) structures.Status) {
	ok(s.status.Download(s.ctx, 0, s.bytes[:n]))
	each(n, func(i int) {
		if got, want := structures.Status(s.bytes[i]), want(i); got != want {
			s.fail("operation %d: %v instead of %v", i, got, want)
		}
	})
}

// allAre checks that n operations have the same status.
func (s *session) allAre(n int, want structures.Status) {
	s.checkStatus(n, func(int) structures.Status { return want })
}

// checkValues compares values with the expected ones, if they matter.
func (s *session) checkValues(b *vk.Buffer[uint32], want func(i int) (value uint32, matters bool)) {
	got := s.downloadElements(b, s.n)
	each(s.n, func(i int) {
		if want, matters := want(i); matters && got[i] != want {
			s.fail("operation %d: value %d instead of %d", i, got[i], want)
		}
	})
}

// checkWords compares words with the expected ones.
func (s *session) checkWords(what string, b *vk.Buffer[uint32], n int, want func(i int) uint32) {
	got := s.download(b, n)
	each(n, func(i int) {
		if want := want(i); got[i] != want {
			s.fail("%s %d: %d instead of %d", what, i, got[i], want)
		}
	})
}

// checkPairs compares the first n pairs of buffers with the expected ones.
func (s *session) checkPairs(keys, values *vk.Buffer[uint32], n int, want func(i int) (key, value uint32)) {
	k, v := s.downloadElements(keys, n), s.downloadElements(values, n)
	each(n, func(i int) {
		if key, value := want(i); k[i] != key || v[i] != value {
			s.fail("pair %d: %d, %d instead of %d, %d", i, k[i], v[i], key, value)
		}
	})
}

// checkStable checks that pairs are the n pairs of the input in ascending and stable order. Pair i of the input has the
// key key(i) and the value i. It suffices that keys ascend, that values ascend between equal keys, and that each value
// has its key, because then no value occurs twice.
func (s *session) checkStable(keys, values *vk.Buffer[uint32], n int, key func(i int) uint32) {
	k, v := s.downloadElements(keys, n), s.downloadElements(values, n)
	each(n, func(i int) {
		if int(v[i]) >= s.n || key(int(v[i])) != k[i] {
			s.fail("place %d: no pair of the input: %d, %d", i, k[i], v[i])
		}
		if i > 0 && (k[i-1] > k[i] || k[i-1] == k[i] && v[i-1] >= v[i]) {
			s.fail("place %d: out of order", i)
		}
	})
}

// checkAscending checks that keys ascend and that they are those of the input, by a sum of hashes.
func (s *session) checkAscending(keys *vk.Buffer[uint32], key func(i int) uint32) {
	k := s.downloadElements(keys, s.n)
	fingerprint := func(key uint32) uint64 { return uint64(scramble(key)) * uint64(scramble(^key)|1) }
	var difference atomic.Uint64
	parallel(s.n, func(first, end int) {
		sum := uint64(0)
		for i := first; i < end; i++ {
			if i > 0 && k[i-1] > k[i] {
				s.fail("place %d: out of order", i)
			}
			sum += fingerprint(k[i]) - fingerprint(key(i))
		}
		difference.Add(sum)
	})
	if difference.Load() != 0 {
		s.fail("other keys than those of the input")
	}
}
