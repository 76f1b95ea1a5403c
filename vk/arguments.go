package vk

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/vkds/vkds/vk/internal/native"
)

// Arguments is a T in device memory, for kernel arguments that don't fit push constants, which have 128 bytes on every
// device. It is a field of the pushed struct. In GLSL the member is a buffer reference to a block that matches T, as
// push constants match their struct.
type Arguments[T any] struct{ address uint64 }

func (Arguments[T]) of() reflect.Type { return reflect.TypeFor[T]() }

// argued is every Arguments.
type argued interface{ of() reflect.Type }

// NewArguments records that a copy of v is put into device memory, for the commands that are recorded from here to the
// next Submit. Reading push constants costs nothing, so prefer them if v fits.
func NewArguments[T any](s *Stream, v T) Arguments[T] {
	if !s.made() {
		return Arguments[T]{}
	}
	address := s.arguments(unsafe.Pointer(&v), int(unsafe.Sizeof(v)))
	return Arguments[T]{address}
}

// Address is where they lie, for what takes addresses.
func (a Arguments[T]) Address() uint64 { return a.address }

const (
	argumentsBytes = 4096    // of a batch's memory for arguments, taken when the first ones come
	mostArguments  = 1 << 16 // that one command may write
	argumentsGrain = 16      // they begin at multiples of so many bytes
)

// argumentMemory is where a batch's arguments go.
type argumentMemory struct {
	buffer *Buffer[byte]
	used   int
}

// arguments records the writing of some bytes to memory of the batch's own. Nothing that was recorded before has to do
// with that memory, so this stands behind no barrier; the next command's names it.
func (s *Stream) arguments(from unsafe.Pointer, n int) uint64 {
	size := (n + 3) &^ 3
	if size > mostArguments {
		s.fail(fmt.Errorf("vk: arguments of %d bytes: %d are the most", n, mostArguments))
		return 0
	}
	if n == 0 || !s.begin() {
		return 0
	}
	m := &s.open.arguments
	if m.buffer == nil || m.used+size > m.buffer.Len() {
		b, err := NewBuffer[byte](s.d, max(argumentsBytes, size))
		if err != nil {
			s.fail(err)
			return 0
		}
		s.open.finally = append(s.open.finally, b.Free)
		*m = argumentMemory{buffer: b}
	}
	r, at := m.buffer.r, uint64(m.used)
	m.used += (size + argumentsGrain - 1) &^ (argumentsGrain - 1)
	words := make([]uint32, size/4)
	copy(view(words), unsafe.Slice((*byte)(from), n))
	s.d.native.Update(s.open.commands, r.block.buffer, r.at+at, words)
	if s.parallel == 0 || s.fresh {
		s.since |= native.Transfer
	} else {
		s.d.native.Barrier(s.open.commands, native.Transfer, native.Shader)
	}
	s.commands++
	return r.address() + at
}
