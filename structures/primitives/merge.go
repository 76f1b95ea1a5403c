package primitives

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Run is an operand: a sorted array of keys or pairs.
type Run struct {
	Keys, Values uint64 // addresses of Length elements each; Values 0: keys alone
	Length       Length
}

// run is Run of shaders/primitives/merge.comp.
type run struct {
	Keys, Values uint64
	Length       length
}

func (r Run) device() run { return run{r.Keys, r.Values, r.Length.device()} }

// MergeArgs are the operands of Merge.
type MergeArgs struct {
	A, B               Run    // both of pairs, or both of keys alone
	Widths             Widths // of the keys, and of the values if there are any
	OutKeys, OutValues uint64 // addresses of as many elements as A and B have together
	Mask               uint64 // the bits of keys that are compared, by which A and B ascend; 0: all
	Scratch            uint64 // as many bytes as Scratch says
}

type mergePush struct {
	A, B               run
	OutKeys, OutValues uint64
	Splits             uint64
	Mask               uint64
}

type mergeSplitPush struct {
	A, B             uint64
	ALength, BLength length
	Splits           uint64
	Mask             uint64
	Tile             uint32
}

// mergeShape is the layout of a workgroup in the kernels over shaders/primitives/merge_tile.glsl.
type mergeShape struct{ workgroup, items int }

// These shapes measured best on an H200, by the width of keys.
var (
	mergesOfPairs = [...]mergeShape{structures.Bits32: {128, 9}, structures.Bits64: {128, 9}}
	mergesOfKeys  = [...]mergeShape{structures.Bits32: {256, 11}, structures.Bits64: {256, 9}}
)

func (m mergeShape) tile() int { return m.workgroup * m.items }

// within returns the shape with as large a workgroup as the device allows. Its shared memory takes a key and a word for
// each element.
func (m mergeShape) within(info vk.Info, w structures.Width) mergeShape {
	for m.workgroup > info.MaxWorkgroup || w.Bytes()*(m.tile()+m.items)+4*m.tile()+8 > info.SharedBytes {
		m.workgroup /= 2
	}
	return m
}

// mergeShape returns the shape for a merge of keys of this width, alone or with values.
func (p *Primitives) mergeShape(w structures.Width, pairs bool) mergeShape {
	m := mergesOfKeys[w]
	if pairs {
		m = mergesOfPairs[w]
	}
	return m.within(p.d.Info(), w)
}

// splits returns the number of words that merge_split takes for up to n outputs.
func (m mergeShape) splits(n int) int { return n/m.tile() + 2 }

// If a workgroup finds the ends of its own tile, that saves a dispatch, but it loads more than a single lane that
// bisects for it. Up to mergeAlone outputs, it is faster.
const mergeAlone = 1 << 22

// mergeScratch returns the bytes of scratch memory that a merge of up to n outputs of these widths needs.
func (p *Primitives) mergeScratch(n int, w Widths) int {
	if w.check() != nil {
		return 0
	}
	return 4 * max(p.mergeShape(w.Key, true).splits(max(n, 0)), p.mergeShape(w.Key, false).splits(max(n, 0)))
}

// Merge records a merge of two sorted runs into one. It is stable: among equal keys, those of A come first, and keys of
// one run keep their order. Each run may have any length up to MaxLength. A and B may be the same run. The output and
// the scratch memory must not overlap them.
//
// Errors: *structures.CountError, *vk.OptionError, ErrNoMemory, and those of making a kernel.
//
// Source: Green, McColl and Bader, GPU Merge Path: A GPU Merging Algorithm, 2012.
func (p *Primitives) Merge(s *vk.Stream, a MergeArgs) error {
	return p.whole(s, func() error { return p.merge(s, a, a.A.Length.N+a.B.Length.N <= mergeAlone) })
}

// merge is Merge. If alone is set, each workgroup finds its own tile.
func (p *Primitives) merge(s *vk.Stream, a MergeArgs, alone bool) error {
	if err := a.Widths.check(); err != nil {
		return err
	}
	for _, r := range []Run{a.A, a.B} {
		if err := r.Length.check(); err != nil {
			return err
		}
		if r.Length.N > 0 && (r.Keys == 0 || (r.Values == 0) != (a.OutValues == 0)) {
			return ErrNoMemory
		}
	}
	n := a.A.Length.N + a.B.Length.N
	if n == 0 {
		return nil
	}
	if a.OutKeys == 0 || a.Scratch == 0 {
		return ErrNoMemory
	}
	if a.Mask == 0 {
		a.Mask = ^uint64(0)
	}
	pairs := a.OutValues != 0
	shape := p.mergeShape(a.Widths.Key, pairs)
	k, err := a.kernel(shape).Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	push := mergePush{A: a.A.device(), B: a.B.device(), OutKeys: a.OutKeys, OutValues: a.OutValues, Mask: a.Mask}
	if !alone {
		push.Splits = a.Scratch
		if err := p.split(s, a.Widths.Key, a.A, a.B, a.Mask, shape, a.Scratch); err != nil {
			return err
		}
	}
	k.Dispatch(s, groups(n, shape.tile()), push)
	return nil
}

func (m mergeShape) constant() recording.Specialization {
	return recording.Constant("MERGE_ITEMS", uint32(m.items))
}

func (a MergeArgs) kernel(shape mergeShape) recording.Spec[mergePush] {
	return recording.Of[mergePush](a.Widths.module("primitives/merge", true), shape.workgroup,
		flag("PAIRS", a.OutValues != 0), shape.constant())
}

func splitKernel(w structures.Width) recording.Spec[mergeSplitPush] {
	return recording.Of[mergeSplitPush](recording.OfKeys("primitives/merge_split", w), 0)
}

func (a MergeArgs) kernels(p *Primitives) recording.Table {
	return recording.Table{a.kernel(p.mergeShape(a.Widths.Key, a.OutValues != 0)), splitKernel(a.Widths.Key)}
}

// split records the search for the first elements of the tiles of a merge.
func (p *Primitives) split(s *vk.Stream, w structures.Width, a, b Run, mask uint64, shape mergeShape,
	splits uint64) error {
	k, err := splitKernel(w).Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(shape.splits(a.Length.N+b.Length.N), k.Workgroup()), mergeSplitPush{
		a.Keys, b.Keys, a.Length.device(), b.Length.device(), splits, mask, uint32(shape.tile()),
	})
	return nil
}
