// Package primitives has the bulk operations that ordered structures are made of: radix sort, top k, partition, scan,
// reduction, merge, segmented sort, compaction, run-length encoding, bounds, histograms and the encoding of keys, over
// arrays of 32-bit numbers in device memory, or of 64-bit ones where an operation has a Width.
//
// Nothing here waits and nothing allocates: an operation is recorded into a vk.Stream, works on memory that is given
// by device addresses, and takes its temporary memory from the caller. The function named …Scratch says how many
// bytes that is. Operations on one stream follow one another, so that what one writes the next may read. Arrays are
// aligned to their elements, scratch to 256 bytes. Inputs and outputs may not overlap unless an operation says so.
//
// An operation is recorded whole or not at all (vk.Stream.Whole): one that is refused leaves the stream's batch as it
// was, and one of which a kernel can't be made when others are recorded already has the stream drop its batch.
//
// An array's length is a Length: known to the host, or a word in device memory that an earlier operation wrote.
//
// Where an operation has two forms, both give the same result. The single-pass form (decoupled look-back, Merrill
// and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016) is faster where workgroups that
// started make progress concurrently. No form relies on it: who has waited for a while computes what it waits
// for by itself.
package primitives

import (
	"errors"
	"fmt"

	"github.com/vkds/vkds/internal/enum"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// Form is how an operation that has two forms is done.
type Form uint8

const (
	// Auto is SinglePass on devices whose litmus tests (vkds doctor) show progress between workgroups, and MultiPass
	// on others.
	Auto Form = iota
	// SinglePass reads its input once and looks back at its predecessors' results.
	SinglePass
	// MultiPass reads its input once more and waits for nobody.
	MultiPass
)

var formNames = enum.Names[Form]{"auto", "single-pass", "multi-pass"}

func (f Form) String() string { return formNames.String(f) }

// Options say how primitives are made. The zero value is what measured best.
type Options struct {
	Form Form
}

// Primitives are the operations on one device. Kernels are made when they are first recorded, and kept. Several
// goroutines may use one Primitives, each with streams of its own.
type Primitives struct {
	d    *vk.Device
	form Form

	// How often a workgroup looks for what a predecessor is to publish before it computes that by itself.
	patience uint32
	// The shape of all sorts, for tests; zero: by their length.
	sorts tileShape
	// The least length of wide keys that are sorted by upper digits and locally, where that does.
	local int
	// The passes by upper digits of all these sorts, for tests; zero: by their length.
	uppers int

	kernels *recording.Kernels
}

// MaxLength is the most elements that an array may have.
const MaxLength = 1 << 30

// New makes the primitives of a device. It takes neither device memory nor time.
func New(d *vk.Device, o Options) *Primitives {
	p := &Primitives{d: d, form: o.Form, patience: patience, local: 1 << 18, kernels: recording.NewKernels(d)}
	if d.Info().Type == vk.CPU {
		p.patience = cpuPatience
	}
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

// patience is far longer than a workgroup that runs takes to publish. On a CPU device a workgroup that has not
// published may be off its processor, for as long as the system likes: there it is quicker to do its work.
const (
	patience    = 1 << 14
	cpuPatience = 1 << 5
)

// Their GPUs passed the litmus tests of progress between workgroups wherever these were run.
const (
	vendorAMD    = 0x1002
	vendorNVIDIA = 0x10de
	vendorIntel  = 0x8086
)

// Close ends the use of the primitives, after their work has ended. Further calls do nothing; operations recorded
// afterwards return vk.ErrClosed.
func (p *Primitives) Close() error {
	p.kernels.Close()
	return nil
}

// Length is how many elements an array has: N, or with At not 0, what the word at that device address says when the
// operation runs, but at most N. The time of an operation and its scratch go by N.
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

// BitsError says that keys have no such bits.
type BitsError struct{ First, Bits, Of int }

func (e *BitsError) Error() string {
	return fmt.Sprintf("primitives: %d bits from bit %d on, but a key has %d", e.Bits, e.First, e.Of)
}

// ErrNoMemory says that an operation was given no address for something that it needs.
var ErrNoMemory = errors.New("primitives: an array or the scratch has no address")

func groups(n, each int) int { return (n + each - 1) / each }
