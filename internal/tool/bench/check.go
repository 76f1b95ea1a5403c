package bench

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// wrong says that the operation gave a wrong result.
func (s *session) wrong(format string, args ...any) error {
	return &WrongError{s.op.Name, fmt.Sprintf(format, args...)}
}

// sound checks that the structure has so many pairs, and of a tree that it is one.
func (s *session) sound(ctx context.Context, pairs int) error {
	n, err := s.dictionary.Len(ctx)
	if err == nil && n != uint64(pairs) {
		err = s.wrong("%d pairs there instead of %d", n, pairs)
	}
	if t, is := s.dictionary.(treeTable); is && err == nil {
		err = t.Check(ctx)
	}
	return err
}

// holdsAll checks that the structure has the first so many pairs and no others.
func (s *session) holdsAll(ctx context.Context, pairs int) error {
	return s.holds(ctx, pairs, func(at int) uint32 { return s.space.value(s.keys.key(at)) })
}

// holds is holdsAll with other values, each that of a place in the sequence of keys.
func (s *session) holds(ctx context.Context, pairs int, value func(at int) uint32) error {
	if err := s.sound(ctx, pairs); err != nil {
		return err
	}
	return s.finds(ctx, func(i int) (uint32, bool) {
		at := s.order.at(i)
		if at >= pairs {
			return 0, false
		}
		return value(at), true
	})
}

// finds looks all n keys up and checks what comes of it.
func (s *session) finds(ctx context.Context, want func(i int) (value uint32, there bool)) error {
	queries, answers, err := s.asked(ctx, s.query)
	if err != nil {
		return err
	}
	if err := s.find(queries, answers, structures.AutoOrder); err != nil {
		return err
	}
	if err := s.stream.Wait(ctx); err != nil {
		return err
	}
	return s.found(ctx, s.n, answers, want)
}

func (s *session) find(queries, answers *vk.Buffer[uint32], order structures.LookupOrder) error {
	l := structures.DeviceLookups{Count: s.n, Keys: queries, Values: answers, Found: s.status, Order: order}
	return s.dictionary.FindOn(s.stream, l)
}

// found checks the answers to so many lookups: want gives the value of each, and whether its key is there.
func (s *session) found(ctx context.Context, n int, answers *vk.Buffer[uint32], want func(i int) (uint32, bool)) error {
	values, found := s.scratch[:n], s.bytes[:n]
	if err := s.status.Download(ctx, 0, found); err != nil {
		return err
	}
	keysOnly := s.keysOnly()
	if !keysOnly {
		if err := s.downloadElements(ctx, answers, values); err != nil {
			return err
		}
	}
	return each(n, func(i int) error {
		value, there := want(i)
		if !there {
			value = 0
		}
		if got := found[i] != 0; got != there {
			return s.wrong("query %d: found is %t instead of %t", i, got, there)
		}
		if !keysOnly && values[i] != value {
			return s.wrong("query %d: value %d instead of %d", i, values[i], value)
		}
		return nil
	})
}

// checkStatus compares the statuses of n operations with what they must be.
func (s *session) checkStatus(ctx context.Context, n int, want func(i int) structures.Status) error {
	got := s.bytes[:n]
	if err := s.status.Download(ctx, 0, got); err != nil {
		return err
	}
	return each(n, func(i int) error {
		if got, want := structures.Status(got[i]), want(i); got != want {
			return s.wrong("operation %d: %v instead of %v", i, got, want)
		}
		return nil
	})
}

// allAre checks that n operations have the same status.
func (s *session) allAre(ctx context.Context, n int, want structures.Status) error {
	return s.checkStatus(ctx, n, func(int) structures.Status { return want })
}

// checkValues compares values, as far as they matter, with what they must be.
func (s *session) checkValues(ctx context.Context, b *vk.Buffer[uint32],
	want func(i int) (value uint32, matters bool)) error {
	if err := s.downloadElements(ctx, b, s.scratch); err != nil {
		return err
	}
	return each(s.n, func(i int) error {
		if want, matters := want(i); matters && s.scratch[i] != want {
			return s.wrong("operation %d: value %d instead of %d", i, s.scratch[i], want)
		}
		return nil
	})
}

// checkStable looks whether pairs are the n of the input, of which pair i was key(i) with the value i, in ascending
// and stable order: so it is if keys, and where these are equal values, ascend, and every value has its key, because
// then no value comes twice.
func (s *session) checkStable(ctx context.Context, keys, values *vk.Buffer[uint32], key func(i int) uint32) error {
	if err := s.downloadElements(ctx, keys, s.scratch); err != nil {
		return err
	}
	if s.second == nil {
		s.second = make([]uint32, s.n)
	}
	if err := s.downloadElements(ctx, values, s.second); err != nil {
		return err
	}
	return each(s.n, func(i int) error {
		k, v := s.scratch[i], s.second[i]
		if int(v) >= s.n || key(int(v)) != k {
			return s.wrong("place %d: no pair of the input: %d, %d", i, k, v)
		}
		if i > 0 && (s.scratch[i-1] > k || s.scratch[i-1] == k && s.second[i-1] >= v) {
			return s.wrong("place %d: out of order", i)
		}
		return nil
	})
}

// checkAscending looks whether keys ascend and are, by a sum of hashes, those of the input.
func (s *session) checkAscending(ctx context.Context, keys *vk.Buffer[uint32], key func(i int) uint32) error {
	if err := s.downloadElements(ctx, keys, s.scratch); err != nil {
		return err
	}
	var difference atomic.Uint64
	err := parallel(s.n, func(first, end int) error {
		sum := uint64(0)
		for i := first; i < end; i++ {
			if i > 0 && s.scratch[i-1] > s.scratch[i] {
				return s.wrong("place %d: out of order", i)
			}
			sum += fingerprint(s.scratch[i]) - fingerprint(key(i))
		}
		difference.Add(sum)
		return nil
	})
	if err == nil && difference.Load() != 0 {
		err = s.wrong("other keys than those of the input")
	}
	return err
}

func fingerprint(key uint32) uint64 { return uint64(scramble(key)) * uint64(scramble(^key)|1) }

// downloaded are the first words of a buffer.
func downloaded(ctx context.Context, b *vk.Buffer[uint32], n int) ([]uint32, error) {
	words := make([]uint32, n)
	return words, b.Download(ctx, 0, words)
}

// elementsOf are what the first elements of a buffer were made of.
func (s *session) elementsOf(ctx context.Context, b *vk.Buffer[uint32], n int) ([]uint32, error) {
	made := make([]uint32, n)
	return made, s.downloadElements(ctx, b, made)
}

func (s *session) pairsOf(ctx context.Context, keys, values *vk.Buffer[uint32], n int) (k, v []uint32, err error) {
	if k, err = s.elementsOf(ctx, keys, n); err == nil {
		v, err = s.elementsOf(ctx, values, n)
	}
	return k, v, err
}
