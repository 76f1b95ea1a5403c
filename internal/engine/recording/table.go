package recording

import (
	"cmp"
	"context"
	"reflect"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Spec describes a kernel whose push constants have the type P.
type Spec[P any] struct{ spec }

// spec is a module and its specialization.
type spec struct {
	module    string
	workgroup int
	constants [maxConstants]Specialization
	overPool  bool // the first constants are those of the pool
}

const (
	maxConstants  = 8
	poolConstants = 2
)

// Of returns the description of a module's kernel. A module has at most eight constants, always the same in the same
// order. A workgroup of 0 is the module's own, or the default one.
func Of[P any](module string, workgroup int, constants ...Specialization) Spec[P] {
	o := spec{module: module, workgroup: workgroup}
	copy(o.constants[:], constants)
	return Spec[P]{o}
}

// OfPool is Of for a kernel over the pool of slabs of a structure (Kernels.Over), whose constants it also has.
func OfPool[P any](module string, workgroup int, constants ...Specialization) Spec[P] {
	o := spec{module: module, workgroup: workgroup, overPool: true}
	copy(o.constants[poolConstants:], constants)
	return Spec[P]{o}
}

// With returns the description with one more constant.
func (o Spec[P]) With(c Specialization) Spec[P] {
	at := 0
	if o.overPool {
		at = poolConstants
	}
	for o.constants[at].name != "" {
		at++
	}
	o.constants[at] = c
	return o
}

// Form has the specialization constants of a pool of slabs, by their names. They change when the pool grows.
type Form = map[string]uint32

// in returns the description for a form of the pool.
func (o spec) in(f Form) spec {
	if o.overPool {
		o.constants[0] = Constant(poolLight, f[poolLight])
		o.constants[1] = Constant(poolSuperShift, f[poolSuperShift])
	}
	return o
}

// key identifies a kernel of a device.
type key struct {
	module    string
	push      reflect.Type
	workgroup int
	constants [maxConstants]uint32
}

func (o spec) key(push reflect.Type) key {
	id := key{module: o.module, push: push, workgroup: o.workgroup}
	for i, c := range o.constants {
		id.constants[i] = c.value
	}
	return id
}

// Kernel returns the kernel, to be recorded into a stream. The first call on a device makes it. After Kernels.Close,
// Kernel returns vk.ErrClosed. If the kernel can't be made, the stream drops its batch (vk.Stream.Fail), because a
// stage would be missing.
func (o Spec[P]) Kernel(k *Kernels, s *vk.Stream) (kernel *vk.Kernel[P], err error) {
	if err = k.Err(); err == nil {
		in := o.spec
		if o.overPool {
			in = o.in(k.form())
		}
		kernel, err = get[P](k.d, nil, in)
	}
	if err == nil && failing != nil {
		err = failing(o.module)
	}
	s.Fail(err)
	return kernel, err
}

// Dispatch records the kernel, with that many workgroups.
func (o Spec[P]) Dispatch(k *Kernels, s *vk.Stream, groups int, push P) error {
	kernel, err := o.Kernel(k, s)
	if err == nil {
		kernel.Dispatch(s, groups, push)
	}
	return err
}

// Entry is a Spec in a Table.
type Entry interface {
	describe() (spec, reflect.Type)
	prepare(p *preparation, o spec) error
}

func (o Spec[P]) describe() (spec, reflect.Type) { return o.spec, reflect.TypeFor[P]() }

func (o Spec[P]) prepare(p *preparation, in spec) error {
	_, err := get[P](p.d, p, in)
	return err
}

// Table describes all kernels that some calls may need, for any arguments. It may have a kernel several times.
type Table []Entry

// Prepare makes the kernels of a table, several at a time, for each form that the pool of the structure may have. It
// calls progress with the number of kernels that are made. Each kernel is dispatched once, with no workgroups, because
// some drivers compile it only then. The first error stops Prepare. So does the end of the context, between two
// kernels.
func (t Table) Prepare(ctx context.Context, d *vk.Device, progress structures.Progress, forms ...Form) error {
	kernels := t.distinct(forms)
	return together(ctx, d, progress, len(kernels), func(p *preparation, i int) error {
		return kernels[i].entry.prepare(p, kernels[i].spec)
	})
}

// Lister lists the kernels of operations. KernelsOf asks a public type of ours that embeds it, and users cannot.
type Lister[O any] struct{ list func([]O) Table }

// ListerOf returns the Lister of a function.
func ListerOf[O any](list func([]O) Table) Lister[O] { return Lister[O]{list} }

func (l Lister[O]) kernels(all []O) Table { return l.list(all) }

// KernelsOf lists the kernels of operations.
func KernelsOf[O any](lister interface{ kernels([]O) Table }, all ...O) Table {
	return lister.kernels(all)
}

// described is an entry for one form of the pool.
type described struct {
	entry Entry
	spec  spec
}

// distinct returns each kernel once.
func (t Table) distinct(forms []Form) (all []described) {
	known := map[key]bool{}
	for _, e := range t {
		o, push := e.describe()
		each := forms
		if !o.overPool {
			each = []Form{nil}
		}
		for _, f := range each {
			in := o.in(f)
			if id := in.key(push); !known[id] {
				known[id] = true
				all = append(all, described{e, in})
			}
		}
	}
	return all
}

// preparation makes kernels before they are needed.
type preparation struct {
	ctx  context.Context
	d    *vk.Device
	none *vk.Buffer[uint32] // a dispatch with no workgroups; nil: kernels are not dispatched
}

// next returns an error if no more kernels should be made.
func (p *preparation) next() error {
	if p == nil {
		return nil
	}
	return context.Cause(p.ctx)
}

// runOnce dispatches a kernel with no workgroups, and waits.
func runOnce[P any](p *preparation, k *vk.Kernel[P]) error {
	s, err := p.d.NewStream()
	if err != nil {
		return err
	}
	k.DispatchIndirect(s, p.none, 0, *new(P))
	err = s.Wait(context.WithoutCancel(p.ctx)) // the driver compiles the kernel in any case
	return cmp.Or(err, s.Close())
}
