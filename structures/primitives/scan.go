package primitives

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// ScanArgs are the operands of Scan.
type ScanArgs struct {
	In        uint64 // numbers
	Out       uint64 // as many sums; may be In, if sums are as wide
	Length    Length
	Width     structures.Width // of the numbers
	Sums      structures.Width // of the sums; may be 64 bits for numbers of 32
	Inclusive bool             // each sum includes the number at its index
	Total     uint64           // 0, or room for the sum of all
	Scratch   uint64           // as many bytes as Scratch says
}

// These shapes measured best on an H200, for a single pass and for several.
var (
	scanSingleShape = shape{workgroup: 128, quads: 6}
	scanMultiShape  = shape{workgroup: 128, quads: 4, chunks: 1024}
)

// scanSingleFrom is the length above which an array is scanned in a single pass. Shorter arrays are still in the cache
// when they are read again, and reducing them takes no longer than clearing the states.
var scanSingleFrom = 1 << 22

type scanPush struct {
	Source, Target, Total, Before uint64
	Length                        length
	Chunks                        uint32
}

func (p *Primitives) scanKernel(a ScanArgs, single bool) recording.Spec[scanPush] {
	sums, shape := max(a.Width, a.Sums), scanMultiShape
	if single {
		shape = scanSingleShape
	}
	constants := append(summand(a.Width, sums), shape.constant(),
		flag("SINGLE_PASS", single), flag("INCLUSIVE", a.Inclusive), recording.Constant("PATIENCE", p.patience))
	return recording.Of[scanPush](recording.OfKeys("primitives/scan", sums), shape.workgroup, constants...)
}

func (a ScanArgs) kernels(p *Primitives) recording.Table {
	all := recording.Table{p.scanKernel(a, false), reduceKernel(a.Width, max(a.Width, a.Sums), scanMultiShape, Sum)}
	if p.form == SinglePass {
		all = append(all, p.scanKernel(a, true))
	}
	return all
}

// scanScratch returns the bytes of scratch memory that Scan needs for n numbers and sums of a width.
func (p *Primitives) scanScratch(n int, sums structures.Width) int {
	return max(scanSingleShape.states(n, sums), sums.Bytes()*scanMultiShape.chunks)
}

// Scan records prefix sums modulo 2^32, or modulo 2^64 if the sums have 64 bits: Out[i] is the sum of In[0] … In[i-1],
// or of In[0] … In[i] if Inclusive is set. Both forms take several passes over a short array, and over an array that is
// scanned in place.
//
// Errors: *structures.CountError, *vk.OptionError, ErrNoMemory, and those of making a kernel.
//
// Source: Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016. The multi-pass form is
// the reduce-then-scan of its section 3.
func (p *Primitives) Scan(s *vk.Stream, a ScanArgs) error {
	return p.whole(s, func() error { return p.scan(s, a) })
}

func (p *Primitives) scan(s *vk.Stream, a ScanArgs) error {
	if err := a.Length.check(); err != nil {
		return err
	}
	sums := max(a.Width, a.Sums)
	if err := checkWidth(sums); err != nil {
		return err
	}
	n := a.Length.N
	if n > 0 && (a.In == 0 || a.Out == 0 || a.Scratch == 0) {
		return ErrNoMemory
	}
	shape, chunks := scanMultiShape, scanMultiShape.chunksOf(n, sums)
	single := p.form == SinglePass && a.In != a.Out && n > scanSingleFrom
	if single {
		shape, chunks = scanSingleShape, groups(n, scanSingleShape.part(sums))
	}
	k, err := p.scanKernel(a, single).Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	switch {
	case single:
		err = p.clear(s, a.Scratch, shape.states(n, sums))
	case chunks > 1:
		err = p.reduceChunks(s, ReduceArgs{In: a.In, Out: a.Scratch, Length: a.Length, Width: a.Width, Sums: sums},
			shape, chunks)
	}
	if err != nil {
		return err
	}
	k.Dispatch(s, chunks, scanPush{a.In, a.Out, a.Total, a.Scratch, a.Length.device(), uint32(chunks)})
	return nil
}

// summand returns the constant of summand.glsl, which only kernels with 64-bit sums have.
func summand(width, sums structures.Width) []recording.Specialization {
	if sums == structures.Bits32 {
		return nil
	}
	return []recording.Specialization{flag("NARROW", width == structures.Bits32)}
}

// flag is a specialization constant that is 0 or 1.
func flag(name string, set bool) recording.Specialization {
	if set {
		return recording.Constant(name, 1)
	}
	return recording.Constant(name, 0)
}
