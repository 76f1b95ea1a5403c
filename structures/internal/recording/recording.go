// Package recording has what packages share that record operations of several kernels into a stream, on memory that
// they are given by device addresses.
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

// Kernels gives out a device's kernels, which are made when they are first asked for. Whoever uses the device shares
// them, and they are kept for as long as it is open: drivers take up to seconds for some. Several goroutines may ask.
type Kernels struct {
	d       *vk.Device
	closed  atomic.Bool
	general bool // kernels over a pool look into its table, as those of a large one do
}

// NewKernels returns the kernels of a device.
func NewKernels(d *vk.Device) *Kernels { return &Kernels{d: d} }

// Close ends the giving out. Further calls do nothing.
func (k *Kernels) Close() { k.closed.Store(true) }

// key is a module at one specialization.
type key struct {
	module    string
	push      reflect.Type
	workgroup int
	constants [7]uint32
}

// kept are all kernels of a device. It is what the device keeps under a keptKey.
type kept struct {
	mu    sync.Mutex
	made  map[key]*made
	count atomic.Uint64 // of kernels made
}

func keptOf(d *vk.Device) *kept {
	return d.Attached(keptKey{}, func() any { return &kept{made: map[key]*made{}} }).(*kept)
}

type keptKey struct{}

// made is a kernel that was asked for; nil until it could be made.
type made struct {
	mu     sync.Mutex
	kernel any
	run    bool // it was dispatched, or who has made it does so next
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

// Constant specializes a constant by its name in GLSL.
func Constant(name string, value uint32) Specialization { return Specialization{name, value} }

const poolLight = "POOL_LIGHT" // says that a pool is one super block

// OverPool returns the constants of a kernel over a pool of slabs, by alloc.SlabPool's Constants, and then its own.
func OverPool(pool map[string]uint32, own ...Specialization) []Specialization {
	of := []Specialization{{poolLight, pool[poolLight]}, {"POOL_SUPER_SHIFT", pool["POOL_SUPER_SHIFT"]}}
	return append(of, own...)
}

var failing func(module string) error

// FailWith is for tests: what f returns of a module is why its kernel can't be had. nil ends that.
func FailWith(f func(module string) error) { failing = f }

// Kernel returns the kernel of a module, for what is to be recorded into a stream: at most seven constants, always the
// same ones in the same order for one module. After Close it is vk.ErrClosed. Where it can't be had, a stage will be
// missing from what is being recorded: the stream drops its batch (vk.Stream.Fail), whatever the caller makes of the
// error.
func Kernel[P any](k *Kernels, s *vk.Stream, module string, workgroup int,
	constants ...Specialization) (*vk.Kernel[P], error) {
	kernel, err := ask[P](k, rehearsalOf(s), module, workgroup, constants...)
	if err == nil && failing != nil {
		err = failing(module)
	}
	s.Fail(err)
	return kernel, err
}

// ask returns a kernel that was made before, or makes it, within a rehearsal or, nil, without.
func ask[P any](k *Kernels, r *rehearsal, module string, workgroup int,
	constants ...Specialization) (*vk.Kernel[P], error) {
	if k == nil {
		return nil, vk.ErrNotOpen
	}
	if k.closed.Load() {
		return nil, vk.ErrClosed
	}
	if k.general {
		constants = general(constants)
	}
	id := key{module: module, push: reflect.TypeFor[P](), workgroup: workgroup}
	for i, c := range constants {
		id.constants[i] = c.value
	}
	all := keptOf(k.d)
	one := all.of(id)
	one.mu.Lock() // others may make other kernels meanwhile
	defer one.mu.Unlock()
	if one.kernel == nil {
		if err := r.next(); err != nil {
			return nil, err
		}
		kernel, err := create[P](k.d, module, workgroup, constants)
		if err != nil {
			return nil, err
		}
		one.kernel, one.run = kernel, r == nil
		all.count.Add(1)
	}
	kernel := one.kernel.(*vk.Kernel[P])
	if r != nil && !one.run {
		if err := runOnce(r, kernel); err != nil {
			return nil, err
		}
		one.run = true
	}
	return kernel, nil
}

func create[P any](d *vk.Device, module string, workgroup int, constants []Specialization) (*vk.Kernel[P], error) {
	m, err := shaders.Load(module)
	if err != nil {
		return nil, err
	}
	o := vk.KernelOptions{Workgroup: workgroup, Constants: map[string]uint32{}}
	for _, c := range constants {
		o.Constants[c.name] = c.value
	}
	return vk.NewKernel[P](d, m, o)
}

type clearPush struct {
	Target uint64
	N      uint32
}

// Clear records that words become 0.
func Clear(k *Kernels, s *vk.Stream, target uint64, words int) error {
	clear, err := Kernel[clearPush](k, s, "primitives/clear", 128)
	if err != nil {
		return err
	}
	clear.Dispatch(s, (words+127)/128, clearPush{target, uint32(words)})
	return nil
}

// named is what a stream's work names: vk.Uses of memory, or Changes.
type named interface{ On(s *vk.Stream) }

// Naming records what record records into a stream, all of it or nothing, and notes of each of uses, one after the
// other, that the stream names it.
func Naming(s *vk.Stream, record func() error, uses ...named) error {
	err := s.Whole(record)
	if err == nil {
		for _, u := range uses {
			u.On(s)
		}
	}
	return err
}

// After is Naming after the batches of other streams that name what earlier has.
func After(s *vk.Stream, earlier *vk.Uses, record func() error, uses ...named) error {
	return Naming(s, func() error {
		if err := earlier.Order(s); err != nil {
			return err
		}
		return record()
	}, uses...)
}

// Run has what record records done, all of it or nothing, and waits for it to its end: the caller may free what it
// names. It is for a structure's own stream, on which nothing else is recorded.
func Run(s *vk.Stream, record func() error) error {
	err := s.Whole(record)
	if err != nil {
		s.Discard()
	}
	return cmp.Or(err, s.Wait(context.Background())) // in any case: some of it may have been submitted before
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

// MaxBatch is the most elements that the operations of one batch have in an array: the last workgroups of a dispatch go
// beyond them, and their numbers have to fit 32 bits, too.
const MaxBatch = min(1<<31, math.MaxInt)

// MaxPlaces is the most places of an array that the windows of a batch have together: the number behind the last one
// has to fit 32 bits.
const MaxPlaces = min(math.MaxUint32, math.MaxInt)

// Need says that a buffer of a batch of so many operations is too short (*structures.LengthError), was freed, or is of
// another device, or that the batch is of less than none or of more than MaxBatch (*structures.CountError). A `want`
// below 0 is a sum that passed the greatest int.
func Need[T vk.Element](d *vk.Device, b *vk.Buffer[T], name string, count, want int) error {
	if count < 0 || count > MaxBatch {
		return &structures.CountError{What: name, N: count, Most: MaxBatch}
	}
	if n := b.Len(); n < want || want < 0 {
		return &structures.LengthError{Keys: count, Other: name, Got: n}
	}
	return d.Accept("buffer of "+name, b)
}

// NeedNumbers is Need of keys or values of a width, each of one or two words: the error counts them, and not the words.
func NeedNumbers(d *vk.Device, b *vk.Buffer[uint32], name string, count, want int, w structures.Width) error {
	err := Need(d, b, name, count, want<<w)
	if short, is := err.(*structures.LengthError); is {
		short.Got >>= w
	}
	return err
}

// NeedUpdates is Need of all that a batch of updates of one kind has. Deletions need no values, and nobody a Status.
func NeedUpdates(d *vk.Device, kind structures.Kind, b structures.DeviceBatch, width structures.Width) error {
	end, err := End(b)
	if err != nil {
		return err
	}
	values := end
	if kind == structures.Delete {
		values = 0
	}
	return cmp.Or(NeedNumbers(d, b.Keys, "keys", b.Count, end, width),
		NeedNumbers(d, b.Values, "values", b.Count, values, width), NeedOutcomes(d, b))
}

// NeedOutcomes is Need of what a batch says of its number and its outcomes.
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

// NeedExport is Need of the buffers of an export, of a set without values.
func NeedExport(d *vk.Device, e structures.DeviceExport, set bool) error {
	if set && e.Values == nil {
		e.Values = e.Keys
	}
	return cmp.Or(Need(d, e.Keys, "keys", 0, 0), Need(d, e.Values, "values", 0, 0),
		Need(d, e.Total, "words for the number of pairs", 0, 1))
}

// End is where the operations of a batch end in its Keys and Values.
func End(b structures.DeviceBatch) (int, error) {
	if b.Count < 0 {
		return 0, &structures.CountError{What: "operations", N: b.Count, Most: MaxBatch}
	}
	if b.First < 0 {
		return 0, &structures.LengthError{Keys: b.Count, Other: "operations before the first", Got: b.First}
	}
	return b.First + b.Count, nil
}

// At is the address of an element, 0 of a buffer that is not there.
func At(b *vk.Buffer[uint32], i int) uint64 {
	if b == nil {
		return 0
	}
	return b.AddressOf(i)
}

// Windows is how many places the windows of a batch have together, each of so many. Errors: *structures.LengthError of
// a width below 0; *structures.CountError for less operations than none, or more than MaxPlaces.
func Windows(count, width int) (places int, err error) {
	if count < 0 {
		return 0, &structures.CountError{What: "operations", N: count, Most: MaxBatch}
	}
	if width < 0 {
		return 0, &structures.LengthError{Keys: count, Other: "pairs a range (Width)", Got: width}
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

// Padded is a number of bytes rounded up to whole words.
func Padded(bytes int) int { return (bytes + 3) &^ 3 }
