package bench

import (
	"context"

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
func (s *session) indices(ctx context.Context) (*vk.Buffer[uint32], error) {
	return s.elements(ctx, "indices", func(i int) uint32 { return uint32(i) })
}

// payload are values that tell where their pairs came from, and room for them where they go.
func (s *session) payload(ctx context.Context) (values, moved *vk.Buffer[uint32], err error) {
	if values, err = s.indices(ctx); err == nil {
		moved, err = s.roomFor("out values", s.n)
	}
	return values, moved, err
}
