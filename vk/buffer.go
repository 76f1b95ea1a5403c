package vk

import (
	"context"
	"unsafe"
)

// Element is the type of an element of a Buffer.
type Element interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int32 | ~int64 | ~float32
}

// Memory is a Buffer or a HostBuffer of any type. The commands of a Stream take it.
type Memory interface {
	Bytes() uint64   // size in bytes
	Address() uint64 // device address
	where() *region
	each() int // bytes of an element
}

// Buffer is n elements of device memory. Kernels reach it by its address.
//
// Free frees the memory. Close of the Device frees the buffers that are left. Go's garbage collector does not, because
// it does not see device memory. A nil or zero *Buffer has length 0 and address 0, and its Free does nothing.
type Buffer[T Element] struct {
	r *region
	n int
}

// NewBuffer allocates n elements, whose contents are undefined. n may be 0; the Buffer still has its own address.
// Errors: *OutOfMemoryError if there is not enough memory; *LimitError if the device has no buffers that large, or if
// the buffer would exceed a Budget.
func NewBuffer[T Element](from MemorySource, n int) (*Buffer[T], error) {
	if from == nil {
		return nil, ErrNotOpen
	}
	r, err := from.take(false, bytesOf[T](n))
	if err != nil {
		return nil, err
	}
	return &Buffer[T]{r, n}, nil
}

// bytesOf returns the size of n elements. For a negative or very large n, it returns more than any device has.
func bytesOf[T Element](n int) uint64 {
	var t T
	if n < 0 || uint64(n) > 1<<60 {
		return 1 << 63
	}
	return uint64(n) * uint64(unsafe.Sizeof(t))
}

// span returns the bytes of n elements of a buffer from index at on, or a *RangeError if the buffer has fewer.
func span(b Memory, what string, at, n int) (atByte, bytes int, err error) {
	r, size := b.where(), b.each()
	if have := int(r.size() / uint64(size)); at < 0 || n < 0 || at > have || n > have-at {
		return 0, 0, &RangeError{what, at * size, n * size, r.size()}
	}
	return at * size, n * size, nil
}

// view returns the memory of a slice.
func view[T Element](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), bytesOf[T](len(s)))
}

// Len returns the number of elements.
func (b *Buffer[T]) Len() int {
	if b == nil {
		return 0
	}
	return b.n
}

// Bytes returns the size in bytes.
func (b *Buffer[T]) Bytes() uint64 { return b.where().size() }

// Address returns the device address of the first element, a multiple of 256.
func (b *Buffer[T]) Address() uint64 {
	return b.where().address()
}

// AddressOf returns the device address of element i. It does not check i.
func (b *Buffer[T]) AddressOf(i int) uint64 { return b.where().address() + bytesOf[T](i) }

// Free frees the memory. Further calls do nothing.
func (b *Buffer[T]) Free() {
	b.where().drop()
}

func (b *Buffer[T]) where() *region {
	if b == nil {
		return nil
	}
	return b.r
}

func (b *Buffer[T]) each() int { return int(bytesOf[T](1)) }

func (b *Buffer[T]) usableOn(d *Device) error { return b.where().usableOn(d) }

// Upload copies src to the elements from index at on, and returns when the copy is done. Before the call, wait for all
// work that uses these elements; submit work that must see them after the call. If ctx ends first, a part of the
// elements may have been copied. Error: *RangeError if src does not fit; then nothing is copied.
func (b *Buffer[T]) Upload(ctx context.Context, at int, src []T) error {
	if err := checkElements(b, "upload", at, len(src)); err != nil || b.where() == nil {
		return err
	}
	if err := b.r.d.enter(); err != nil {
		return err
	}
	defer b.r.d.leave()
	return b.r.d.staging.upload(ctx, b.r, bytesOf[T](at), view(src))
}

// Download copies the elements from index at on into dst, and returns when the copy is done. Before the call, wait for
// the work that writes them. Error: *RangeError if the Buffer has fewer elements.
func (b *Buffer[T]) Download(ctx context.Context, at int, dst []T) error {
	if err := checkElements(b, "download", at, len(dst)); err != nil || b.where() == nil {
		return err
	}
	if err := b.r.d.enter(); err != nil {
		return err
	}
	defer b.r.d.leave()
	return b.r.d.staging.download(ctx, b.r, bytesOf[T](at), view(dst))
}

func checkElements[T Element](b *Buffer[T], what string, at, n int) error {
	if r := b.where(); r != nil {
		if err := r.usable(); err != nil {
			return err
		}
	}
	_, _, err := span(b, what, at, n)
	return err
}

// HostBuffer is n elements of host memory that the device can use too: by address, and as the source or target of a
// Stream's copies. It stays mapped until it is freed, and it is coherent: submitted work sees what the host wrote
// before the Submit, and after a Wait the host sees what the work wrote.
type HostBuffer[T Element] struct {
	r *region
	s []T
}

// NewHostBuffer allocates n elements, whose contents are undefined. n may be 0. Errors: those of NewBuffer.
func NewHostBuffer[T Element](from MemorySource, n int) (*HostBuffer[T], error) {
	if from == nil {
		return nil, ErrNotOpen
	}
	r, err := from.take(true, bytesOf[T](n))
	if err != nil {
		return nil, err
	}
	return &HostBuffer[T]{r, unsafe.Slice((*T)(r.pointer()), n)}, nil
}

// Slice returns the memory itself, not a copy. Use it only while no work that names it runs: after a Wait and before
// the next Submit. Host and device have no common atomics. The slice is not valid after Free or after Close of the
// Device.
func (b *HostBuffer[T]) Slice() []T {
	if b == nil {
		return nil
	}
	return b.s
}

// Len returns the number of elements.
func (b *HostBuffer[T]) Len() int { return len(b.Slice()) }

// Bytes returns the size in bytes.
func (b *HostBuffer[T]) Bytes() uint64 { return b.where().size() }

// Address returns the device address of the first element, a multiple of 256.
func (b *HostBuffer[T]) Address() uint64 { return b.where().address() }

// AddressOf returns the device address of element i. It does not check i.
func (b *HostBuffer[T]) AddressOf(i int) uint64 { return b.where().address() + bytesOf[T](i) }

// Free frees the memory. Further calls do nothing.
func (b *HostBuffer[T]) Free() { b.where().drop() }

func (b *HostBuffer[T]) where() *region {
	if b == nil {
		return nil
	}
	return b.r
}

func (b *HostBuffer[T]) each() int { return int(bytesOf[T](1)) }

func (b *HostBuffer[T]) usableOn(d *Device) error { return b.where().usableOn(d) }
