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

// elements are n elements of the width at hand, in the order of what a function has for their indices: those of 64 bits
// have that as the high word, and another one made of it as the low word.
func (s *session) elements(ctx context.Context, name string, of func(i int) uint32) (*vk.Buffer[uint32], error) {
	if s.width == primitives.Bits32 {
		return s.filled(ctx, name, of)
	}
	return s.filledBy(ctx, name+", 64 bits", make([]uint32, 2*s.n), func(i int) uint32 {
		return uint32(s.element(of(i/2)) >> (i % 2 * 32))
	})
}

// element is the one that is made of x.
func (s *session) element(x uint32) uint64 {
	if s.width == primitives.Bits32 {
		return uint64(x)
	}
	return uint64(x)<<32 | uint64(scramble(x))
}

// outElements is room for n elements of the width at hand.
func (s *session) outElements(name string) (*vk.Buffer[uint32], error) {
	return s.room(name, s.n<<s.width)
}

// downloadElements brings what as many elements were made of.
func (s *session) downloadElements(ctx context.Context, b *vk.Buffer[uint32], into []uint32) error {
	if s.width == primitives.Bits32 {
		return b.Download(ctx, 0, into)
	}
	words, err := downloaded(ctx, b, 2*len(into))
	if err != nil {
		return err
	}
	return each(len(into), func(i int) error {
		if into[i] = words[2*i+1]; words[2*i] != scramble(into[i]) {
			return s.wrong("place %d: words of two elements: %#x, %#x", i, words[2*i], words[2*i+1])
		}
		return nil
	})
}

// sums are numbers of the width at hand, as the device has them.
type sums struct {
	words []uint32
	width primitives.Width
}

func (s *session) downloadSums(ctx context.Context, b *vk.Buffer[uint32], n int) (sums, error) {
	words, err := downloaded(ctx, b, n<<s.width)
	return sums{words, s.width}, err
}

func (s sums) at(i int) uint64 {
	if s.width == primitives.Bits32 {
		return uint64(s.words[i])
	}
	return uint64(s.words[2*i]) | uint64(s.words[2*i+1])<<32
}

// modulo is x as far as numbers are wide.
func (s sums) modulo(x uint64) uint64 { return x & (1<<(32<<s.width) - 1) }

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
		moved, err = s.outElements("out values")
	}
	return values, moved, err
}
