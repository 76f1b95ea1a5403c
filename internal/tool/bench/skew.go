package bench

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// skew is a batch of n pairs of which one key takes the first hots places of a random order; each other key comes
// once. The value at place i is i+1, of 64 bits that number in both words.
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

// skewed measures updates of an empty hash table, of which one key takes a share.
func skewed(kind structures.Kind) func(*session, context.Context) error {
	return func(s *session, ctx context.Context) error { return s.skewed(ctx, kind) }
}

func (s *session) skewed(ctx context.Context, kind structures.Kind) error {
	k := newSkew(s.space, s.n, s.options.Skew)
	b := structures.DeviceBatch{Count: s.n, Status: s.status, Left: s.left}
	var err error
	if b.Keys, err = s.batchOf(ctx, "batch keys", s.n, k.key); err != nil {
		return err
	}
	if b.Values, err = s.words(ctx, "batch values", s.n<<s.width, func(i int) uint32 {
		return uint32(i>>s.width + 1) // both words are the number, so that sums carry from one to the other
	}); err != nil {
		return err
	}
	if err := s.empty(ctx); err != nil {
		return err
	}
	defer func() { s.there = -1 }()
	return s.add(s.measure(ctx, task{
		Measurement: s.measurement(s.n, s.n), pending: true,
		prepare: s.empty,
		record:  func() error { return s.dictionary.(concurrent).ApplyOn(s.stream, kind, b) },
		check:   func(ctx context.Context) error { return s.checkSkewed(ctx, k, kind, b.Keys) },
	}))
}

// checkSkewed looks whether each key has what all operations on it come to.
func (s *session) checkSkewed(ctx context.Context, k skew, kind structures.Kind, keys *vk.Buffer[uint32]) error {
	if err := s.checkInsertedOnce(ctx, k); err != nil {
		return err
	}
	answers, err := s.roomFor("answers", s.n)
	if err != nil {
		return err
	}
	if err := s.find(keys, answers, structures.AutoOrder); err != nil {
		return err
	}
	if err := s.stream.Wait(ctx); err != nil {
		return err
	}
	got, err := s.downloadNumbers(ctx, answers, s.n)
	if err != nil {
		return err
	}
	sum, least := k.hotValues(s.n)
	var winner atomic.Uint64 // of the insertions, whichever came last
	return each(s.n, func(i int) error {
		want := uint64(i + 1)
		switch {
		case !k.hot(i):
		case kind == structures.InsertAdd:
			want = sum
		case kind == structures.InsertMin:
			want = least
		default:
			if v := uint64(got.upper(i)); v-1 < uint64(s.n) && k.hot(int(v-1)) {
				winner.CompareAndSwap(0, v)
			}
			want = winner.Load()
		}
		if s.width == structures.Bits64 {
			want *= 1<<32 | 1
		}
		if got.at(i) != got.modulo(want) {
			return s.wrong("operation %d: value %d instead of %d", i, got.at(i), want)
		}
		return nil
	})
}

// hotValues are the sum and the least one of the values that come with the hot key.
func (k skew) hotValues(n int) (sum, least uint64) {
	var all, lowest atomic.Uint64
	lowest.Store(math.MaxUint64)
	parallel(n, func(first, end int) error {
		for i := first; i < end; i++ {
			if k.hot(i) {
				all.Add(uint64(i + 1))
				for seen := lowest.Load(); uint64(i+1) < seen && !lowest.CompareAndSwap(seen, uint64(i+1)); {
					seen = lowest.Load()
				}
			}
		}
		return nil
	})
	return all.Load(), lowest.Load()
}

// checkInsertedOnce looks whether each key was inserted by exactly one operation.
func (s *session) checkInsertedOnce(ctx context.Context, k skew) error {
	if err := s.status.Download(ctx, 0, s.bytes); err != nil {
		return err
	}
	var inserted atomic.Int64
	err := each(s.n, func(i int) error {
		switch status := structures.Status(s.bytes[i]); {
		case k.hot(i) && status == structures.Inserted:
			inserted.Add(1)
		case k.hot(i) && status != structures.Assigned || !k.hot(i) && status != structures.Inserted:
			return s.wrong("operation %d: %v", i, status)
		}
		return nil
	})
	if err == nil && inserted.Load() != 1 {
		err = s.wrong("one key was inserted %d times", inserted.Load())
	}
	return err
}
