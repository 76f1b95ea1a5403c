package primitives

import (
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// ReduceOp is how Reduce makes one word of two.
type ReduceOp uint8

const (
	Sum ReduceOp = iota // modulo 2^32; of nothing 0
	Min                 // the least word; of nothing 2^32-1
	Max                 // the greatest word; of nothing 0
)

// ReduceArgs say what Reduce works on.
type ReduceArgs struct {
	In      uint64 // words
	Out     uint64 // one word
	Length  Length
	Op      ReduceOp
	Scratch uint64 // ReduceScratch bytes
}

// reduceShape is what measured best on an H200.
var reduceShape = shape{workgroup: 256, quads: 4, chunks: 1024}

type reducePush struct {
	Source, Target uint64
	Length         length
}

// ReduceScratch is how many bytes of scratch Reduce takes for n words.
func (p *Primitives) ReduceScratch(int) int { return 4 * reduceShape.chunks }

// Reduce records the reduction of an array of words to one. Errors: *structures.CountError, ErrNoMemory, and those of
// making a kernel.
func (p *Primitives) Reduce(s *vk.Stream, a ReduceArgs) error {
	return s.Whole(func() error { return p.reduce(s, a) })
}

func (p *Primitives) reduce(s *vk.Stream, a ReduceArgs) error {
	if err := a.Length.check(); err != nil {
		return err
	}
	if a.Out == 0 || a.Length.N > 0 && (a.In == 0 || a.Scratch == 0) {
		return ErrNoMemory
	}
	chunks := reduceShape.chunksOf(a.Length.N)
	if chunks == 1 {
		return p.reduceChunks(s, a.In, a.Out, a.Length, a.Op, reduceShape, 1)
	}
	if err := p.reduceChunks(s, a.In, a.Scratch, a.Length, a.Op, reduceShape, chunks); err != nil {
		return err
	}
	return p.reduceChunks(s, a.Scratch, a.Out, Length{N: chunks}, a.Op, reduceShape, 1)
}

// reduceChunks records the reduction of each chunk to a word of out.
func (p *Primitives) reduceChunks(s *vk.Stream, in, out uint64, l Length, op ReduceOp, shape shape, chunks int) error {
	k, err := recording.Kernel[reducePush](p.kernels, s, "primitives/reduce", shape.workgroup,
		recording.Constant("QUADS", uint32(shape.quads)),
		recording.Constant("OPERATION", uint32(op)))
	if err != nil {
		return err
	}
	k.Dispatch(s, chunks, reducePush{in, out, l.device()})
	return nil
}
