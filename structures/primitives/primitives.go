// Package primitives has bulk operations on arrays in device memory: radix sort, top k, partition, scan, reduction,
// reduction by key, merge, segmented sort, compaction, run-length encoding, bounds, histograms and the encoding of
// keys. Ordered structures are made of them. Arrays have numbers of 32 bits, or of 64 bits if an operation has a Width.
//
// An operation is recorded into a vk.Stream. It does not wait and allocates nothing: arrays are given by device
// addresses, and the caller provides scratch memory. Primitives.Scratch returns how many bytes. Arrays are
// aligned to their elements, scratch to 256 bytes. Inputs and outputs must not overlap unless an operation says so. An
// operation sees what earlier operations of the stream wrote.
//
// An operation is recorded completely or not at all (vk.Stream.Whole). If it is refused, the stream's batch stays as it
// was. If a kernel can't be made after others were recorded, the stream drops its batch.
//
// The length of an array is a Length: known to the host, or a word in device memory that an earlier operation wrote.
//
// Some operations have two forms with the same result. The single-pass form (decoupled look-back: Merrill and Garland,
// Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016) is faster if workgroups that have started make
// progress concurrently. No form relies on that: a workgroup that has waited for a while computes what it waits for.
package primitives

import (
	"context"
	"errors"
	"fmt"

	"github.com/vkds/vkds/internal/engine/enum"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Form is how an operation with two forms is done.
type Form uint8

const (
	// Auto takes SinglePass on devices for which vkds doctor shows progress between workgroups, and MultiPass on
	// others.
	Auto Form = iota
	// SinglePass reads the input once, and looks back at the results of earlier workgroups.
	SinglePass
	// MultiPass reads the input twice. No workgroup waits.
	MultiPass
)

var formNames = enum.Names[Form]{"auto", "single-pass", "multi-pass"}

func (f Form) String() string { return formNames.String(f) }

// Options configure the primitives. The zero value takes the form that measured best on the device.
type Options struct {
	Form Form
}

// Primitives records operations on one device. It makes a kernel when it first records it; the kernel is kept with the
// device. Several goroutines may use one Primitives, each with its own streams.
type Primitives struct {
	lister
	d    *vk.Device
	form Form

	// How often a workgroup looks for a predecessor's result before it computes the result itself.
	patience uint32
	// The shape of all sorts, for tests. Zero: it depends on the length.
	sorts tileShape
	// The shape of long sorts of 32-bit keys, by the device's Tuning. Zero: it depends on the length.
	tuned tileShape
	// Whether sorts are in the forms for CPU devices: short ones in one dispatch, and passes without shared memory.
	cpuSorts bool
	// The least length of wide keys that are sorted by upper digits and a local sort, if the keys allow it.
	local int
	// The number of passes by upper digits in these sorts, for tests. Zero: it depends on the length.
	uppers int

	sorting recording.Ahead // by widths, and whether there are values

	kernels *recording.Kernels
}

// MaxLength is the greatest length of an array.
const MaxLength = 1 << 30

// New returns the primitives of a device. It allocates no device memory.
func New(d *vk.Device, o Options) *Primitives {
	p := &Primitives{d: d, form: o.Form, patience: patience, local: 1 << 18, kernels: recording.NewKernels(d)}
	p.lister = recording.ListerOf(p.list)
	if d.Info().Type == vk.CPU {
		p.patience = cpuPatience
		p.cpuSorts = true
	}
	choices := d.Tuning()
	if passes := choices["passes"]; p.form == Auto && (passes == int(SinglePass) || passes == int(MultiPass)) {
		p.form = Form(passes)
	}
	p.tuned = tunedShape(d, choices)
	if p.form == Auto {
		p.form = MultiPass
		switch i := d.Info(); i.VendorID {
		case vendorNVIDIA, vendorAMD, vendorIntel:
			if i.Type != vk.CPU {
				p.form = SinglePass
			}
		}
	}
	return p
}

// patience is far longer than a running workgroup takes to publish its result. On a CPU device, a workgroup may be off
// its processor for a long time; there it is faster to do its work than to wait.
const (
	patience    = 1 << 14
	cpuPatience = 1 << 5
)

// The GPUs of these vendors passed the litmus tests of progress between workgroups wherever these were run.
const (
	vendorAMD    = 0x1002
	vendorNVIDIA = 0x10de
	vendorIntel  = 0x8086
)

// Operation is the arguments of an operation: SortArgs, ScanArgs and so on.
type Operation interface {
	kernels(p *Primitives) recording.Table
}

// Scratch returns the bytes of scratch memory that an operation needs. Only lengths and widths of the arguments matter,
// and which addresses are 0. An operation on shorter arrays needs no more.
func (p *Primitives) Scratch(of Operation) int {
	if !p.made() {
		return 0
	}
	switch a := of.(type) { // a call of a method would move the arguments to the heap
	case SortArgs:
		return p.sortScratch(a.Length.N, a.Values != 0, a.Widths)
	case SegmentedSortArgs:
		return p.segmentedSortScratch(a.Length.N, a.Segments, a.Longest, a.Widths)
	case TopKArgs:
		return p.topKScratch(a.Length.N, a.K, a.Widths)
	case PartitionArgs:
		return recording.Align + 4<<max(0, min(a.Bits, MaxPartitionBits))
	case ScanArgs:
		return p.scanScratch(a.Length.N, max(a.Width, a.Sums))
	case ReduceArgs:
		return max(a.Width, a.Sums).Bytes() * reduceShape.chunks
	case MergeArgs:
		return p.mergeScratch(a.A.Length.N+a.B.Length.N, a.Widths)
	case CompactArgs:
		return 4 * compactShape.chunks
	case RunLengthArgs:
		return runLengthScratch(runLengthShape)
	case ReduceByKeyArgs:
		return reduceByKeyScratch()
	case BoundsArgs:
		return p.boundsScratch(a.Length.N, a.Count.N, a.Width)
	}
	return 0 // of a histogram
}

// Prepare makes the kernels of operations, and of Iota, which otherwise the first calls make. Arguments are as in
// Scratch. A length is the greatest one; 0 is any. Errors: the context's, vk.ErrClosed, and those of making a kernel.
func (p *Primitives) Prepare(ctx context.Context, all ...Operation) error {
	if !p.made() {
		return vk.ErrNotOpen
	}
	if err := p.kernels.Err(); err != nil {
		return err
	}
	return p.list(all).Prepare(ctx, p.d, nil)
}

type lister = recording.Lister[Operation] // with a name that is not exported, so that it is not documented

func (p *Primitives) list(all []Operation) recording.Table {
	t := recording.Table{recording.ClearKernel(), iotaKernel()}
	for _, o := range all {
		t = append(t, o.kernels(p)...)
	}
	return t
}

// Close ends the use of the primitives. Their work must have ended. Operations that are recorded afterwards return
// vk.ErrClosed. Further calls do nothing. Kernels stay until the device is closed.
func (p *Primitives) Close() error {
	if !p.made() {
		return vk.ErrNotOpen
	}
	p.kernels.Close()
	return nil
}

// made reports whether the primitives were made by New.
func (p *Primitives) made() bool { return p != nil && p.kernels != nil }

// whole records an operation completely or not at all.
func (p *Primitives) whole(s *vk.Stream, record func() error) error {
	if !p.made() {
		return vk.ErrNotOpen
	}
	return s.Whole(record)
}

// Length is the number of elements of an array. If At is 0, it is N. Otherwise it is the word at the device address At
// when the operation runs, and at most N. N determines the time and the scratch memory that an operation takes.
type Length struct {
	N  int
	At uint64
}

type length = recording.Length

func (l Length) device() length { return length{At: l.At, N: uint32(l.N)} }

func (l Length) check() error {
	if l.N < 0 || l.N > MaxLength {
		return &structures.CountError{What: "elements", N: l.N, Most: MaxLength}
	}
	return nil
}

// noBits returns the error for bits that keys don't have, or for more of them than an operation takes.
func noBits(first, bits, most, of int) error {
	return &vk.OptionError{Option: "Bits",
		Reason: fmt.Sprintf("%d bits from bit %d on, but they are 1 to %d of the %d bits of a key", bits, first, most,
			of)}
}

// ErrNoMemory is returned if an operation gets no address for an array or scratch memory that it needs.
var ErrNoMemory = errors.New("primitives: an array or the scratch memory has no address")

func groups(n, each int) int { return (n + each - 1) / each }
