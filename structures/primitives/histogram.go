package primitives

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// HistogramArgs are the operands of Histogram.
type HistogramArgs struct {
	Keys     uint64
	Out      uint64 // 2^Bits words
	FirstBit int    // the field of a key's bits that is counted: bits FirstBit … FirstBit+Bits-1
	Bits     int    // 1 to MaxHistogramBits
	Length   Length
	Width    structures.Width // of the keys
	Scratch  uint64           // as many bytes as Scratch says
}

// MaxHistogramBits is the width of the widest field that Histogram counts by.
const MaxHistogramBits = 12

// histogramShape measured best on an H200.
var histogramShape = shape{workgroup: 256, quads: 8, chunks: 528}

type fieldCountPush struct {
	Keys, Target uint64
	Length       length
	Shift        uint32
}

func (a HistogramArgs) kernel() recording.Spec[fieldCountPush] {
	return recording.Of[fieldCountPush](recording.OfKeys("primitives/histogram", a.Width), histogramShape.workgroup,
		histogramShape.constant(), recording.Constant("BITS", uint32(a.Bits)))
}

func (a HistogramArgs) kernels(*Primitives) recording.Table { return recording.Table{a.kernel()} }

// Histogram records the counting of keys by the value of a field of their bits.
//
// Errors: *structures.CountError, *vk.OptionError, ErrNoMemory, and those of making a kernel.
func (p *Primitives) Histogram(s *vk.Stream, a HistogramArgs) error {
	return p.whole(s, func() error { return p.histogram(s, a) })
}

func (p *Primitives) histogram(s *vk.Stream, a HistogramArgs) error {
	if err := a.Length.check(); err != nil {
		return err
	}
	if err := checkWidth(a.Width); err != nil {
		return err
	}
	if a.FirstBit < 0 || a.Bits < 1 || a.Bits > MaxHistogramBits || a.FirstBit+a.Bits > a.Width.Bits() {
		return noBits(a.FirstBit, a.Bits, MaxHistogramBits, a.Width.Bits())
	}
	if a.Out == 0 || a.Length.N > 0 && a.Keys == 0 {
		return ErrNoMemory
	}
	k, err := a.kernel().Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	if err := p.clear(s, a.Out, 4<<a.Bits); err != nil {
		return err
	}
	k.Dispatch(s, histogramShape.chunksOf(a.Length.N, a.Width),
		fieldCountPush{a.Keys, a.Out, a.Length.device(), uint32(a.FirstBit)})
	return nil
}
