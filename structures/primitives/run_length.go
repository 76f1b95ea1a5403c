package primitives

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// RunLengthArgs are the operands of RunLength.
type RunLengthArgs struct {
	Keys      uint64 // equal keys make a run if they are adjacent
	OutKeys   uint64 // a key for each run
	OutCounts uint64 // a word for each run: its number of keys
	OutRuns   uint64 // 0, or a word for the number of runs
	Length    Length
	Width     structures.Width // of the keys
	Scratch   uint64           // as many bytes as Scratch says
}

// runLengthShape measured best on an H200.
var runLengthShape = shape{workgroup: 128, quads: 4, chunks: 4096}

type runLengthPush struct {
	Keys, OutKeys, OutCounts, OutRuns, Counts, Lasts uint64
	Length                                           length
}

type runLengthCountPush struct {
	Keys, Counts, Lasts uint64
	Length              length
}

func (a RunLengthArgs) kernel(shape shape) recording.Spec[runLengthPush] {
	return recording.Of[runLengthPush](recording.OfKeys("primitives/run_length", a.Width), shape.workgroup,
		shape.constant())
}

func (a RunLengthArgs) countKernel(shape shape) recording.Spec[runLengthCountPush] {
	return recording.Of[runLengthCountPush](recording.OfKeys("primitives/run_length_count", a.Width),
		shape.workgroup, shape.constant())
}

func (a RunLengthArgs) kernels(*Primitives) recording.Table { return a.kernelsOf(runLengthShape) }

func (a RunLengthArgs) kernelsOf(shape shape) recording.Table {
	return recording.Table{a.kernel(shape), a.countKernel(shape)}
}

// runLengthScratch returns the bytes of scratch memory: for each chunk its number of runs, and then for each the
// beginning of its last run.
func runLengthScratch(shape shape) int { return 8 * shape.chunks }

// RunLength records the run-length encoding of an array: the key and the length of each run of equal adjacent keys, in
// their order. The outputs must have room for the greatest possible number of runs, at most Length. RunLength has one
// form, which first counts the runs of each chunk.
//
// Errors: *structures.CountError, *vk.OptionError, ErrNoMemory, and those of making a kernel.
func (p *Primitives) RunLength(s *vk.Stream, a RunLengthArgs) error {
	return p.whole(s, func() error { return p.runLength(s, a, runLengthShape) })
}

func (p *Primitives) runLength(s *vk.Stream, a RunLengthArgs, shape shape) error {
	if err := a.Length.check(); err != nil {
		return err
	}
	if err := checkWidth(a.Width); err != nil {
		return err
	}
	n := a.Length.N
	if n > 0 && (a.Keys == 0 || a.OutKeys == 0 || a.OutCounts == 0 || a.Scratch == 0) {
		return ErrNoMemory
	}
	chunks := shape.chunksOf(n, a.Width)
	k, err := a.kernel(shape).Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	lasts := a.Scratch + 4*uint64(shape.chunks)
	if chunks > 1 {
		count, err := a.countKernel(shape).Kernel(p.kernels, s)
		if err != nil {
			return err
		}
		count.Dispatch(s, chunks, runLengthCountPush{a.Keys, a.Scratch, lasts, a.Length.device()})
	}
	k.Dispatch(s, chunks, runLengthPush{a.Keys, a.OutKeys, a.OutCounts, a.OutRuns, a.Scratch, lasts, a.Length.device()})
	return nil
}
