package bench

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// skew is a batch of n pairs of which one key takes the first hots places of a random order; each other key comes
// once. The value at place i is i+1.
type skew struct {
	space keySpace
	order order
	hots  int
}

func newSkew(space keySpace, n int, share float64) skew {
	return skew{space, newOrder(n, 0x736b6577), max(1, int(share*float64(n)+0.5))}
}

func (k skew) hot(i int) bool { return k.order.at(i) < k.hots }

// key is the key at place i: number 0 of the key space if it is the hot one.
func (k skew) key(i int) uint32 { return k.space.key(max(0, k.order.at(i)-k.hots+1)) }

func (s *session) addSkewed(ctx context.Context) error {
	return s.skewed(ctx, "add-skewed", structures.Add)
}

func (s *session) minSkewed(ctx context.Context) error {
	return s.skewed(ctx, "min-skewed", structures.Min)
}

func (s *session) insertSkewed(ctx context.Context) error {
	return s.skewed(ctx, "insert-skewed", structures.Insert)
}

func (s *session) skewed(ctx context.Context, op string, kind structures.Kind) error {
	k := newSkew(s.space, s.n, s.options.Skew)
	keys, values, answers, err := s.skewedBatch(ctx, k)
	if err != nil {
		return err
	}
	var sum, least atomic.Uint32 // of the hot key's values
	least.Store(math.MaxUint32)
	parallel(s.n, func(first, end int) error {
		for i := first; i < end; i++ {
			if k.hot(i) {
				sum.Add(uint32(i + 1))
				for seen := least.Load(); uint32(i+1) < seen && !least.CompareAndSwap(seen, uint32(i+1)); {
					seen = least.Load()
				}
			}
		}
		return nil
	})
	return s.add(s.measure(ctx, task{
		Measurement: s.measurement(op, s.n), pending: true,
		prepare: s.empty,
		record:  func() error { return s.m.ApplyOn(s.stream, kind, s.batch(keys, values)) },
		check: func(ctx context.Context) error {
			if err := s.checkInsertedOnce(ctx, op, k); err != nil {
				return err
			}
			if err := s.find(keys, answers); err != nil {
				return err
			}
			if err := s.stream.Wait(ctx); err != nil {
				return err
			}
			var winner atomic.Uint32 // of the insertions, whichever came last
			return s.checkValues(ctx, op, answers, func(i int) (uint32, bool) {
				switch {
				case !k.hot(i):
					return uint32(i + 1), true
				case kind == structures.Add:
					return sum.Load(), true
				case kind == structures.Min:
					return least.Load(), true
				}
				if v := s.scratch[i]; v-1 < uint32(s.n) && k.hot(int(v-1)) {
					winner.CompareAndSwap(0, v)
				}
				return winner.Load(), true
			})
		},
	}))
}

func (s *session) skewedBatch(ctx context.Context, k skew) (keys, values, answers *vk.Buffer[uint32], err error) {
	if keys, err = s.buffer("batch keys"); err != nil {
		return
	}
	if values, err = s.buffer("batch values"); err != nil {
		return
	}
	if answers, err = s.buffer("answers"); err != nil {
		return
	}
	if err = s.refill(ctx, keys, k.key); err != nil {
		return
	}
	err = s.refill(ctx, values, func(i int) uint32 { return uint32(i + 1) })
	return
}

// checkInsertedOnce looks whether each key was inserted by exactly one operation.
func (s *session) checkInsertedOnce(ctx context.Context, op string, k skew) error {
	if err := s.status.Download(ctx, 0, s.bytes); err != nil {
		return err
	}
	var inserted atomic.Int64
	err := parallel(s.n, func(first, end int) error {
		for i := first; i < end; i++ {
			switch status := structures.Status(s.bytes[i]); {
			case k.hot(i) && status == structures.Inserted:
				inserted.Add(1)
			case k.hot(i) && status != structures.Assigned || !k.hot(i) && status != structures.Inserted:
				return &WrongError{op, fmt.Sprintf("operation %d: %v", i, status)}
			}
		}
		return nil
	})
	if err == nil && inserted.Load() != 1 {
		err = &WrongError{op, fmt.Sprintf("one key was inserted %d times", inserted.Load())}
	}
	return err
}

// findSkewed searches the map of the n pairs.
func (s *session) findSkewed(ctx context.Context) error {
	k := newSkew(s.space, s.n, s.options.Skew)
	keys, _, answers, err := s.skewedBatch(ctx, k)
	if err == nil {
		err = s.full(ctx)
	}
	if err != nil {
		return err
	}
	return s.add(s.measure(ctx, task{
		Measurement: s.measurement("find-skewed", s.n),
		record:      func() error { return s.find(keys, answers) },
		check: func(ctx context.Context) error {
			if err := s.checkFound(ctx, "find-skewed", func(int) bool { return true }); err != nil {
				return err
			}
			return s.checkValues(ctx, "find-skewed", answers, func(i int) (uint32, bool) { return s.space.value(k.key(i)), true })
		},
	}))
}
