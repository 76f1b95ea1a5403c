// Package recording has what packages share that record operations of several kernels into a stream, on memory that
// they are given by device addresses.
package recording

import (
	"sync"

	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Kernels are kernels of one device, made when they are first asked for and kept. Several goroutines may ask.
type Kernels struct {
	d *vk.Device

	mu     sync.Mutex
	made   map[key]interface{ Free() }
	closed bool
}

// key is a module at one specialization.
type key struct {
	module    string
	workgroup int
	constants [6]uint32
}

// Specialization is a specialization constant's value.
type Specialization struct {
	name  string
	value uint32
}

// Constant specializes a constant by its name in GLSL.
func Constant(name string, value uint32) Specialization { return Specialization{name, value} }

// NewKernels makes an empty set.
func NewKernels(d *vk.Device) *Kernels { return &Kernels{d: d, made: map[key]interface{ Free() }{}} }

// Kernel returns the kernel of a module. At most six constants, always in the same order for one module. After Close
// it is vk.ErrClosed.
func Kernel[P any](k *Kernels, module string, workgroup int, constants ...Specialization) (*vk.Kernel[P], error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil, vk.ErrClosed
	}
	id := key{module: module, workgroup: workgroup}
	for i, c := range constants {
		id.constants[i] = c.value
	}
	if made, ok := k.made[id]; ok {
		return made.(*vk.Kernel[P]), nil
	}
	m, err := shaders.Load(module)
	if err != nil {
		return nil, err
	}
	o := vk.KernelOptions{Workgroup: workgroup, Constants: map[string]uint32{}}
	for _, c := range constants {
		o.Constants[c.name] = c.value
	}
	made, err := vk.NewKernel[P](k.d, m, o)
	if err != nil {
		return nil, err
	}
	k.made[id] = made
	return made, nil
}

// Close frees the kernels, after the work that uses them has ended. Further calls do nothing.
func (k *Kernels) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, made := range k.made {
		made.Free()
	}
	k.made, k.closed = nil, true
}

// Align is the alignment of scratch and of its parts, in bytes.
const Align = 256

// Parts divides scratch: each Take returns the address of the next part. With a Base of 0 it only measures.
type Parts struct{ Base, Used uint64 }

// Take returns the address of the next part, of so many bytes.
func (p *Parts) Take(bytes int) uint64 {
	at := p.Base + p.Used
	p.Used += (uint64(bytes) + Align - 1) &^ (Align - 1)
	return at
}

// Need says that a buffer of a batch of so many operations is too short, or that the batch is of less than none.
func Need[T vk.Element](b *vk.Buffer[T], name string, count, want int) error {
	if n := b.Len(); n < want || count < 0 {
		return &structures.LengthError{Keys: count, Other: name, Got: n}
	}
	return nil
}

// Padded is a number of bytes rounded up to whole words.
func Padded(bytes int) int { return (bytes + 3) &^ 3 }
