package vk

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/vkds/vkds/vk/internal/native"
)

// Arguments is a T in device memory, for kernel arguments that exceed push constants; every device has at least 128
// bytes of those. It is a field of the pushed struct. In GLSL the member is a buffer reference to a block that matches
// T, in the same way as push constants match their struct.
type Arguments[T any] struct{ address uint64 }

func (Arguments[T]) of() reflect.Type { return reflect.TypeFor[T]() }

// argued is implemented by Arguments of every type.
type argued interface{ of() reflect.Type }

// NewArguments records a copy of v to device memory, for the commands that are recorded from here to the next Submit.
// Reading push constants costs nothing, so prefer them if v fits.
func NewArguments[T any](s *Stream, v T) Arguments[T] {
	if !s.made() {
		return Arguments[T]{}
	}
	address := s.arguments(unsafe.Pointer(&v), int(unsafe.Sizeof(v)))
	return Arguments[T]{address}
}

// Address returns the device address of the arguments.
func (a Arguments[T]) Address() uint64 { return a.address }

const (
	argumentsBytes = 4096    // the least size of a buffer for a batch's arguments
	mostArguments  = 1 << 16 // bytes that one command can write
	argumentsGrain = 16      // the alignment of arguments, in bytes
)

// argumentMemory is the newest buffer for a batch's arguments.
type argumentMemory struct {
	buffer *Buffer[byte]
	used   int
}

// arguments records the writing of n bytes to the batch's own memory, and returns their address. No earlier command
// uses that memory, so the write needs no barrier before it. The barrier of the next command orders the write before
// that command.
func (s *Stream) arguments(from unsafe.Pointer, n int) uint64 {
	size := (n + 3) &^ 3
	if size > mostArguments {
		s.fail(fmt.Errorf("vk: arguments of %d bytes: at most %d are possible", n, mostArguments))
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
