package bench

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// bulk are the primitives, in the form of the setting.
func (s *session) bulk() *primitives.Primitives {
	if s.primitives == nil {
		s.primitives = primitives.New(s.d, primitives.Options{Form: s.at.form})
	}
	return s.primitives
}

// time measures an operation that moves so many bytes an element at least, and reports it.
func (s *session) time(ctx context.Context, bytes int, record func() error, check func(context.Context) error) error {
	m := s.measurement(s.n, s.n)
	m.Bytes = uint64(bytes * s.n)
	return s.add(s.measure(ctx, task{Measurement: m, record: record, check: check}))
}

// scratchFor is scratch of so many bytes.
func (s *session) scratchFor(bytes int) (uint64, error) {
	b, err := s.room("scratch", (bytes+3)/4)
	if err != nil {
		return 0, err
	}
	return b.Address(), nil
}

// indices are the numbers 0 … n-1: as values they tell where a pair came from.
func (w *workload) indices(ctx context.Context) (*vk.Buffer[uint32], error) {
	return w.filled(ctx, "indices", func(i int) uint32 { return uint32(i) })
}

// payload are values that tell where their pairs came from, and room for them where they go.
func (s *session) payload(ctx context.Context) (values, moved *vk.Buffer[uint32], err error) {
	if values, err = s.indices(ctx); err == nil {
		moved, err = s.buffer("out values")
	}
	return values, moved, err
}

// checkStable looks whether pairs are the n of the input, of which pair i was key(i) with the value i, in ascending
// and stable order: so it is if keys, and where these are equal values, ascend, and every value has its key, because
// then no value comes twice.
func (w *workload) checkStable(ctx context.Context, op string, keys, values *vk.Buffer[uint32], key func(i int) uint32) error {
	if err := keys.Download(ctx, 0, w.scratch); err != nil {
		return err
	}
	if w.second == nil {
		w.second = make([]uint32, w.n)
	}
	if err := values.Download(ctx, 0, w.second); err != nil {
		return err
	}
	return parallel(w.n, func(first, end int) error {
		for i := first; i < end; i++ {
			k, v := w.scratch[i], w.second[i]
			if int(v) >= w.n || key(int(v)) != k {
				return &WrongError{op, fmt.Sprintf("place %d: no pair of the input: %d, %d", i, k, v)}
			}
			if i > 0 && (w.scratch[i-1] > k || w.scratch[i-1] == k && w.second[i-1] >= v) {
				return &WrongError{op, fmt.Sprintf("place %d: out of order", i)}
			}
		}
		return nil
	})
}

// checkAscending looks whether keys ascend and are, by a sum of hashes, those of the input.
func (w *workload) checkAscending(ctx context.Context, op string, keys *vk.Buffer[uint32], key func(i int) uint32) error {
	if err := keys.Download(ctx, 0, w.scratch); err != nil {
		return err
	}
	var difference atomic.Uint64
	err := parallel(w.n, func(first, end int) error {
		sum := uint64(0)
		for i := first; i < end; i++ {
			if i > 0 && w.scratch[i-1] > w.scratch[i] {
				return &WrongError{op, fmt.Sprintf("place %d: out of order", i)}
			}
			sum += fingerprint(w.scratch[i]) - fingerprint(key(i))
		}
		difference.Add(sum)
		return nil
	})
	if err == nil && difference.Load() != 0 {
		err = &WrongError{op, "other keys than those of the input"}
	}
	return err
}

func fingerprint(key uint32) uint64 { return uint64(scramble(key)) * uint64(scramble(^key)|1) }
