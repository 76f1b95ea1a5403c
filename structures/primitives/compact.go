package primitives

import "github.com/vkds/vkds/vk"

// CompactArgs say what Compact works on.
type CompactArgs struct {
	Keys      uint64 // words
	Values    uint64 // 0, or as many words
	Flags     uint64 // a bit a key, in words from the lowest bit up; bits from Length on are ignored
	OutKeys   uint64 // words, as many as there are flags set
	OutValues uint64 // likewise, where Values is not 0
	OutCount  uint64 // 0, or a word for the number of flags set
	Length    Length
	Scratch   uint64 // CompactScratch bytes
}

// compactShape is what measured best on an H200.
var compactShape = shape{workgroup: 256, quads: 4, chunks: 1024}

type compactPush struct {
	Keys, Values, Flags, OutKeys, OutValues, OutCount, Counts uint64
	Length                                                    length
}

type compactCountPush struct {
	Flags, Counts uint64
	Length        length
}

// CompactScratch is how many bytes of scratch Compact takes for n elements.
func (p *Primitives) CompactScratch(int) int { return 4 * compactShape.chunks }

// Compact records that the elements whose flags are set are written one behind the other, in their order. It has but
// one form: the flags are a small part of what is read, so that counting them first costs next to nothing. Errors:
// *LengthError, ErrNoMemory, and those of making a kernel.
func (p *Primitives) Compact(s *vk.Stream, a CompactArgs) error {
	if err := a.Length.check(); err != nil {
		return err
	}
	pairs := a.Values != 0
	if a.Length.N > 0 && (a.Keys == 0 || a.Flags == 0 || a.OutKeys == 0 || a.Scratch == 0 || pairs && a.OutValues == 0) {
		return ErrNoMemory
	}
	quads := constant{"QUADS", uint32(compactShape.quads)}
	count, err := kernel[compactCountPush](p, "primitives/compact_count", compactShape.workgroup, quads)
	if err != nil {
		return err
	}
	compact, err := kernel[compactPush](p, "primitives/compact", compactShape.workgroup, quads, flag("PAIRS", pairs))
	if err != nil {
		return err
	}
	chunks := compactShape.chunksOf(a.Length.N)
	if chunks > 1 {
		count.Dispatch(s, chunks, compactCountPush{a.Flags, a.Scratch, a.Length.device()})
	}
	compact.Dispatch(s, chunks, compactPush{a.Keys, a.Values, a.Flags, a.OutKeys, a.OutValues, a.OutCount, a.Scratch, a.Length.device()})
	return nil
}
