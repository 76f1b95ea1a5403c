package bench

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Keys and values are made of 32-bit numbers at both widths: an element of 64 bits has such a number as its high word,
// and another one made of it as the low word. So elements have the order of their numbers, and what has mixed up the
// words of two shows.

// element is the one of a width that is made of x.
func element(w structures.Width, x uint32) uint64 {
	if w == structures.Bits32 {
		return uint64(x)
	}
	return uint64(x)<<32 | uint64(scramble(x))
}

// element is the one of the width at hand that is made of x.
func (s *session) element(x uint32) uint64 { return element(s.width, x) }

// elementOf is the element of a type's width that is made of x, and upperOf what it was made of.
func elementOf[W structures.Word](x uint32) W { return W(element(structures.WidthOf[W](), x)) }
func upperOf[W structures.Word](x W) uint32 {
	return uint32(uint64(x) >> (structures.WidthOf[W]().Bits() - 32))
}

// atWidth is one of two things that are written for Go's words, that for the width at hand.
func atWidth[T any](s *session, narrow, wide T) T {
	if s.width == structures.Bits64 {
		return wide
	}
	return narrow
}

// ofWidth measures what is written for Go's words, at the width at hand.
func ofWidth(narrow, wide func(*session, context.Context) error) func(*session, context.Context) error {
	return func(s *session, ctx context.Context) error { return atWidth(s, narrow, wide)(s, ctx) }
}

// inWords are the words of elements one behind the other, which are made of what a function has for their indices.
func (s *session) inWords(of func(i int) uint32) func(i int) uint32 {
	if s.width == structures.Bits32 {
		return of
	}
	return func(i int) uint32 { return uint32(s.element(of(i/2)) >> (i % 2 * 32)) }
}

// elements returns the buffer of a name with n elements of the width at hand, in the order of what a function has for
// their indices; once made, they stay.
func (s *session) elements(ctx context.Context, name string, of func(i int) uint32) (*vk.Buffer[uint32], error) {
	if s.width == structures.Bits64 {
		name += ", 64 bits"
	}
	return s.filled(ctx, name, s.n<<s.width, s.inWords(of))
}

// roomFor is room for so many elements of the width at hand.
func (s *session) roomFor(name string, n int) (*vk.Buffer[uint32], error) {
	return s.room(name, n<<s.width)
}

// copyElements copies a part of some elements to the beginning of others.
func (s *session) copyElements(to, from *vk.Buffer[uint32], p part) {
	bytes := s.width.Bytes()
	s.stream.Copy(to, 0, from, bytes*p.first, bytes*p.count)
}

// downloadElements brings what as many elements were made of.
func (s *session) downloadElements(ctx context.Context, b *vk.Buffer[uint32], into []uint32) error {
	if s.width == structures.Bits32 {
		return b.Download(ctx, 0, into)
	}
	words := s.carried(2 * len(into))
	if err := b.Download(ctx, 0, words); err != nil {
		return err
	}
	return each(len(into), func(i int) error {
		if into[i] = words[2*i+1]; words[2*i] != scramble(into[i]) {
			return s.wrong("place %d: words of two elements: %#x, %#x", i, words[2*i], words[2*i+1])
		}
		return nil
	})
}

// numbers are as wide as the elements at hand, as the device has them: sums, or how many pairs a range has.
type numbers struct {
	words []uint32
	width structures.Width
}

func (s *session) downloadNumbers(ctx context.Context, b *vk.Buffer[uint32], n int) (numbers, error) {
	words, err := downloaded(ctx, b, n<<s.width)
	return numbers{words, s.width}, err
}

func (s numbers) at(i int) uint64 {
	if s.width == structures.Bits32 {
		return uint64(s.words[i])
	}
	return uint64(s.words[2*i]) | uint64(s.words[2*i+1])<<32
}

func (s numbers) len() int { return len(s.words) >> s.width }

// from are so many of the numbers from one on.
func (s numbers) from(first, n int) numbers {
	return numbers{s.words[first<<s.width : (first+n)<<s.width], s.width}
}

// upper is the number as far as it goes into 32 bits, by its upper ones.
func (s numbers) upper(i int) uint32 { return s.words[(i+1)<<s.width-1] }

// modulo is x as far as numbers are wide.
func (s numbers) modulo(x uint64) uint64 { return x & (1<<(32<<s.width) - 1) }
