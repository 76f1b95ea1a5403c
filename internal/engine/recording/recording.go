// Package recording is shared by packages that record operations of several kernels into a stream, over memory given by
// device addresses.
package recording

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Kernels makes a device's kernels when they are first needed. All users of the device share them, and they are kept as
// long as the device is open, because drivers take up to seconds for some. Several goroutines may use one Kernels.
type Kernels struct {
	d      *vk.Device
	closed atomic.Bool
	form   func() Form // of the pool
}

// NewKernels returns the kernels of a device.
func NewKernels(d *vk.Device) *Kernels { return &Kernels{d: d} }

// Over sets the function that returns the constants of the pool of slabs (alloc.SlabPool's Constants), for kernels over
// it.
func (k *Kernels) Over(form func() Form) *Kernels {
	k.form = form
	return k
}

// Close makes further calls of Kernel fail. Further calls of Close do nothing.
func (k *Kernels) Close() { k.closed.Store(true) }

// Err returns vk.ErrClosed after Close, and vk.ErrNotOpen for nil.
func (k *Kernels) Err() error {
	switch {
	case k == nil:
		return vk.ErrNotOpen
	case k.closed.Load():
		return &vk.ClosedError{What: "kernels"}
	}
	return nil
}

// kept has all kernels of a device. The device keeps it under a keptKey.
type kept struct {
	mu    sync.Mutex
	made  map[key]*made
	count atomic.Uint64 // of kernels made
}

func keptOf(d *vk.Device) *kept {
	return d.Attached(keptKey{}, func() any { return &kept{made: map[key]*made{}} }).(*kept)
}

type keptKey struct{}

// made holds a kernel that was asked for, or nil until it was made.
type made struct {
	mu     sync.Mutex
	kernel any
	run    bool // it was dispatched, or is about to be by the caller that made it
}

func (all *kept) of(id key) *made {
	all.mu.Lock()
	defer all.mu.Unlock()
	m, ok := all.made[id]
	if !ok {
		m = &made{}
		all.made[id] = m
	}
	return m
}

// Specialization is a specialization constant's value.
type Specialization struct {
	name  string
	value uint32
}

// Constant returns a specialization constant, by its name in GLSL, with a value.
func Constant(name string, value uint32) Specialization { return Specialization{name, value} }

const (
	poolLight      = "POOL_LIGHT" // the pool is one super block
	poolSuperShift = "POOL_SUPER_SHIFT"
)

// OverPool returns the constants of a kernel over a pool of slabs: those of alloc.SlabPool's Constants, and then its
// own.
func OverPool(pool map[string]uint32, own ...Specialization) []Specialization {
	of := []Specialization{{poolLight, pool[poolLight]}, {poolSuperShift, pool[poolSuperShift]}}
	return append(of, own...)
}

// Kernel is Of and Spec.Kernel.
func Kernel[P any](k *Kernels, s *vk.Stream, module string, workgroup int,
	constants ...Specialization) (*vk.Kernel[P], error) {
	return Of[P](module, workgroup, constants...).Kernel(k, s)
}

// get returns a kernel of a device. p is nil in calls that record.
func get[P any](d *vk.Device, p *preparation, o spec) (*vk.Kernel[P], error) {
	all := keptOf(d)
	one := all.of(o.key(reflect.TypeFor[P]()))
	one.mu.Lock() // other kernels may be made at the same time
	defer one.mu.Unlock()
	if one.kernel == nil {
		if err := p.next(); err != nil {
			return nil, err
		}
		kernel, err := create[P](d, o)
		if err != nil {
			return nil, err
		}
		one.kernel, one.run = kernel, p == nil
		all.count.Add(1)
	}
	kernel := one.kernel.(*vk.Kernel[P])
	if p != nil && p.none != nil && !one.run {
		if err := runOnce(p, kernel); err != nil {
			return nil, err
		}
		one.run = true
	}
	return kernel, nil
}

func create[P any](d *vk.Device, o spec) (*vk.Kernel[P], error) {
	m, err := shaders.Load(o.module)
	if err != nil {
		return nil, err
	}
	options := vk.KernelOptions{Workgroup: o.workgroup, Constants: map[string]uint32{}}
	for _, c := range o.constants {
		if c.name != "" {
			options.Constants[c.name] = c.value
		}
	}
	return vk.NewKernel[P](d, m, options)
}

type clearPush struct {
	Target uint64
	N      uint32
}

// ClearKernel describes the kernel of Clear.
func ClearKernel() Spec[clearPush] { return Of[clearPush]("primitives/clear", 128) }

// Clear records that words are set to 0.
func Clear(k *Kernels, s *vk.Stream, target uint64, words int) error {
	clear, err := ClearKernel().Kernel(k, s)
	if err != nil {
		return err
	}
	clear.Dispatch(s, (words+127)/128, clearPush{target, uint32(words)})
	return nil
}

// named is what a stream's work uses: vk.Uses of memory, or Changes.
type named interface{ On(s *vk.Stream) }

// Naming records the commands of record into a stream, completely or not at all, and registers with each of uses, in
// order, that the stream uses it.
func Naming(s *vk.Stream, record func() error, uses ...named) error {
	err := s.Whole(record)
	if err == nil {
		for _, u := range uses {
			u.On(s)
		}
	}
	return err
}

// After is Naming after the batches of other streams that are registered with earlier.
func After(s *vk.Stream, earlier *vk.Uses, record func() error, uses ...named) error {
	return Naming(s, func() error {
		if err := earlier.Order(s); err != nil {
			return err
		}
		return record()
	}, uses...)
}

// Run does what record records, completely or not at all, and waits for its end, so the caller may free the memory that
// it uses. Use it with a structure's own stream, on which nothing else is recorded.
func Run(s *vk.Stream, record func() error) error {
	err := s.Whole(record)
	if err != nil {
		s.Discard()
	}
	return cmp.Or(err, s.Wait(context.Background())) // even after an error: some of it may have been submitted
}

// Align is the alignment of scratch and of its parts, in bytes.
const Align = 256

// Parts divides scratch memory: each Take returns the address of the next part. With a Base of 0, it only measures.
type Parts struct{ Base, Used uint64 }

// Take returns the address of the next part, which has the given number of bytes.
func (p *Parts) Take(bytes int) uint64 {
	at := p.Base + p.Used
	p.Used += (uint64(bytes) + Align - 1) &^ (Align - 1)
	return at
}

// MaxBatch is the greatest number of elements that a batch has in an array. The last workgroups of a dispatch have
// higher indices, which must also fit 32 bits.
const MaxBatch = min(1<<31, math.MaxInt)

// MaxPlaces is the greatest number of places in an array that the windows of a batch have together. The index after the
// last one must fit 32 bits.
const MaxPlaces = min(math.MaxUint32, math.MaxInt)

// Need checks a buffer of a batch of count operations. It returns an error if the buffer has fewer than want elements
// (*structures.LengthError), was freed, or is of another device, or if count is less than 0 or greater than MaxBatch
// (*structures.CountError). A negative want is a sum that overflowed.
func Need[T vk.Element](d *vk.Device, b *vk.Buffer[T], name string, count, want int) error {
	if count < 0 || count > MaxBatch {
		return &structures.CountError{What: name, N: count, Most: MaxBatch}
	}
	if n := b.Len(); n < want || want < 0 {
		return tooShort(name, count, n, want)
	}
	return d.Accept("buffer of "+name, b)
}

// tooShort returns the error for a buffer of n elements instead of want.
func tooShort(name string, count, n, want int) *structures.LengthError {
	short := &structures.LengthError{Keys: count, Other: name, Got: n}
	if want != count {
		short.Need = max(want, 0)
	}
	return short
}

// NeedNumbers is Need for keys or values of a width. Its error counts keys or values, and not 32-bit words, and says so
// if they differ.
func NeedNumbers(d *vk.Device, b *vk.Buffer[uint32], name string, count, want int, w structures.Width) error {
	err := Need(d, b, name, count, want<<w)
	if short, is := err.(*structures.LengthError); is {
		if w == structures.Bits64 {
			name += " of 64 bits"
		}
		return tooShort(name, count, short.Got>>w, want)
	}
	return err
}

// NeedUpdates is Need for all buffers of a batch of updates of one kind. Deletions need no values, and no batch needs a
// Status.
func NeedUpdates(d *vk.Device, kind structures.Kind, b structures.DeviceBatch, width structures.Width) error {
	end, err := End(b)
	if err != nil {
		return err
	}
	values := end
	if kind == structures.Delete {
		values = 0
	}
	return cmp.Or(b.Made.Check(width), NeedNumbers(d, b.Keys, "keys", b.Count, end, width),
		NeedNumbers(d, b.Values, "values", b.Count, values, width), NeedOutcomes(d, b))
}

// NeedOutcomes is Need for the number and the outcomes of a batch.
func NeedOutcomes(d *vk.Device, b structures.DeviceBatch) error {
	status, left := 0, 0
	if b.Status != nil {
		status = Padded(b.Count)
	}
	if b.Left != nil {
		left = 1
	}
	return cmp.Or(Need(d, b.Status, "status bytes", b.Count, status),
		Need(d, b.Left, "words for the number left", b.Count, left),
		NeedCount(d, b.DeviceCount, b.Count))
}

// NeedExport is Need for the buffers of an export. A set has no values.
func NeedExport(d *vk.Device, e structures.DeviceExport, width structures.Width, set bool) error {
	if set && e.Values == nil {
		e.Values = e.Keys
	}
	return cmp.Or(e.Made.Check(width), Need(d, e.Keys, "keys", 0, 0), Need(d, e.Values, "values", 0, 0),
		Need(d, e.Total, "words for the number of pairs", 0, 1))
}

// End returns the index after the last operation of a batch in its Keys and Values.
func End(b structures.DeviceBatch) (int, error) {
	if b.Count < 0 {
		return 0, &structures.CountError{What: "operations", N: b.Count, Most: MaxBatch}
	}
	if b.First < 0 {
		return 0, &structures.LengthError{Keys: b.Count, Other: "operations before the first", Need: -1, Got: b.First}
	}
	return b.First + b.Count, nil
}

// At returns the address of an element, or 0 if the buffer is nil.
func At(b *vk.Buffer[uint32], i int) uint64 {
	if b == nil {
		return 0
	}
	return b.AddressOf(i)
}

// Windows returns how many places the windows of a batch have together, width each. Errors: *structures.LengthError if
// width is less than 0; *structures.CountError if count is less than 0 or there are more than MaxPlaces places.
func Windows(count, width int) (places int, err error) {
	if count < 0 {
		return 0, &structures.CountError{What: "operations", N: count, Most: MaxBatch}
	}
	if width < 0 {
		return 0, &structures.LengthError{Keys: count, Other: "pairs a range (Width)", Need: -1, Got: width}
	}
	over, product := bits.Mul64(uint64(count), uint64(width))
	if over != 0 {
		product = math.MaxInt
	}
	if product > MaxPlaces {
		return 0, &structures.CountError{What: "pairs of all ranges", N: int(min(product, math.MaxInt)),
			Most: MaxPlaces}
	}
	return int(product), nil
}

// Padded rounds a number of bytes up to whole words.
func Padded(bytes int) int { return (bytes + 3) &^ 3 }
