package primitives

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// CompactArgs are the operands of Compact.
type CompactArgs struct {
	Keys      uint64 // numbers
	Values    uint64 // 0, or as many numbers
	Flags     uint64 // a bit for each key, in words from the lowest bit up; bits from Length on are ignored
	OutKeys   uint64 // numbers, as many as there are flags set
	OutValues uint64 // as many values, if Values is not 0
	OutCount  uint64 // 0, or a word for the number of flags set
	Length    Length
	Widths    Widths
	Scratch   uint64 // as many bytes as Scratch says
}

// compactShape measured best on an H200.
var compactShape = shape{workgroup: 128, quads: 4, chunks: 4096}

type compactPush struct {
	Keys, Values, Flags, OutKeys, OutValues, OutCount, Counts uint64
	Length                                                    length
}

type compactCountPush struct {
	Flags, Counts uint64
	Length        length
}

func compactKernel(w structures.Width, pairs bool) recording.Spec[compactPush] {
	return recording.Of[compactPush](recording.OfKeys("primitives/compact", w), compactShape.workgroup,
		compactShape.constant(), flag("PAIRS", pairs))
}

// compactCountKernel reads only flags. Its parts have as many elements as those of compactKernel.
func compactCountKernel(w structures.Width) recording.Spec[compactCountPush] {
	flags := compactShape
	flags.quads >>= w
	return recording.Of[compactCountPush]("primitives/compact_count", flags.workgroup, flags.constant())
}

func (a CompactArgs) kernels(*Primitives) (all recording.Table) {
	pairs := a.Values != 0
	if pairs && !a.together() {
		all, pairs = CompactArgs{Widths: Widths{Key: a.Widths.Value}}.kernels(nil), false
	}
	return append(all, compactKernel(a.Widths.Key, pairs), compactCountKernel(a.Widths.Key))
}

// together reports whether keys and values are copied at once, because they are equally wide.
func (a CompactArgs) together() bool { return a.Widths.Value == a.Widths.Key }

// Compact records the copying of the elements whose flags are set, one after the other in their order. It has one form,
// which first counts the flags of each chunk.
//
// Errors: *structures.CountError, *vk.OptionError, ErrNoMemory, and those of making a kernel.
func (p *Primitives) Compact(s *vk.Stream, a CompactArgs) error {
	return p.whole(s, func() error { return p.compact(s, a) })
}

func (p *Primitives) compact(s *vk.Stream, a CompactArgs) error {
	if err := a.Length.check(); err != nil {
		return err
	}
	if err := a.Widths.check(); err != nil {
		return err
	}
	pairs := a.Values != 0
	n := a.Length.N
	if n > 0 && (a.Keys == 0 || a.Flags == 0 || a.OutKeys == 0 || a.Scratch == 0 || pairs && a.OutValues == 0) {
		return ErrNoMemory
	}
	if pairs && !a.together() {
		// One after the other. Reading the flags twice costs little: they have a bit for each element.
		keys, values := a, a
		keys.Values = 0
		values.Keys, values.OutKeys, values.Values, values.OutCount = a.Values, a.OutValues, 0, 0
		values.Widths.Key = a.Widths.Value
		if err := p.compact(s, keys); err != nil {
			return err
		}
		return p.compact(s, values)
	}
	width := a.Widths.Key
	chunks := compactShape.chunksOf(n, width)
	k, err := compactKernel(width, pairs).Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	if chunks > 1 {
		count, err := compactCountKernel(width).Kernel(p.kernels, s)
		if err != nil {
			return err
		}
		count.Dispatch(s, chunks, compactCountPush{a.Flags, a.Scratch, a.Length.device()})
	}
	k.Dispatch(s, chunks, compactPush{a.Keys, a.Values, a.Flags, a.OutKeys, a.OutValues, a.OutCount, a.Scratch,
		a.Length.device()})
	return nil
}
