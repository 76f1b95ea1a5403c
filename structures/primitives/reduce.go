package primitives

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// ReduceOp is the operation by which Reduce combines two numbers.
type ReduceOp uint8

const (
	Sum ReduceOp = iota // modulo 2^32, or 2^64; 0 for an empty array
	Min                 // the least number; all bits set for an empty array
	Max                 // the greatest number; 0 for an empty array
)

// ReduceArgs are the operands of Reduce.
type ReduceArgs struct {
	In      uint64 // numbers
	Out     uint64 // one number
	Length  Length
	Width   structures.Width // of the numbers
	Sums    structures.Width // of the result; may be 64 bits for numbers of 32
	Op      ReduceOp
	Scratch uint64 // as many bytes as Scratch says
}

// reduceShape measured best on an H200.
var reduceShape = shape{workgroup: 256, quads: 4, chunks: 1024}

type reducePush struct {
	Source, Target uint64
	Length         length
}

func reduceKernel(width, sums structures.Width, shape shape, op ReduceOp) recording.Spec[reducePush] {
	constants := append(summand(width, sums), shape.constant(), recording.Constant("OPERATION", uint32(op)))
	return recording.Of[reducePush](recording.OfKeys("primitives/reduce", sums), shape.workgroup, constants...)
}

func (a ReduceArgs) kernels(*Primitives) recording.Table {
	sums := max(a.Width, a.Sums)
	return recording.Table{reduceKernel(a.Width, sums, reduceShape, a.Op), reduceKernel(sums, sums, reduceShape, a.Op)}
}

// Reduce records the reduction of an array to one number.
//
// Errors: *structures.CountError, *vk.OptionError, ErrNoMemory, and those of making a kernel.
func (p *Primitives) Reduce(s *vk.Stream, a ReduceArgs) error {
	return p.whole(s, func() error { return p.reduce(s, a) })
}

func (p *Primitives) reduce(s *vk.Stream, a ReduceArgs) error {
	if err := a.Length.check(); err != nil {
		return err
	}
	sums := max(a.Width, a.Sums)
	if err := checkWidth(sums); err != nil {
		return err
	}
	if a.Out == 0 || a.Length.N > 0 && (a.In == 0 || a.Scratch == 0) {
		return ErrNoMemory
	}
	chunks := reduceShape.chunksOf(a.Length.N, sums)
	if chunks == 1 {
		return p.reduceChunks(s, a, reduceShape, 1)
	}
	each, all := a, a
	each.Out = a.Scratch
	all.In, all.Length, all.Width = a.Scratch, Length{N: chunks}, sums
	if err := p.reduceChunks(s, each, reduceShape, chunks); err != nil {
		return err
	}
	return p.reduceChunks(s, all, reduceShape, 1)
}

// reduceChunks records the reduction of each chunk to one number in Out.
func (p *Primitives) reduceChunks(s *vk.Stream, a ReduceArgs, shape shape, chunks int) error {
	k, err := reduceKernel(a.Width, max(a.Width, a.Sums), shape, a.Op).Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, chunks, reducePush{a.In, a.Out, a.Length.device()})
	return nil
}
