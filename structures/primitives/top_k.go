package primitives

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// TopKArgs are the operands of TopK. Keys are compared as unsigned words: use EncodeKeys and DecodeKeys for signed and
// float keys.
type TopKArgs struct {
	Keys      uint64 // numbers
	Values    uint64 // 0, or as many values
	OutKeys   uint64 // min(K, Length) keys; nothing is written after them
	OutValues uint64 // the value of each key; without Values, the index of each key in Keys, as words
	OutCount  uint64 // 0, or a word for min(K, Length)
	K         int
	Least     bool // the least keys in ascending order; otherwise the greatest in descending order
	Length    Length
	Widths    Widths // Value is ignored without Values
	Scratch   uint64 // as many bytes as Scratch says
}

// topKShape is the division of the keys among workgroups. Each workgroup reads all counts of a digit.
var topKShape = shape{workgroup: 256, quads: 4, chunks: 1024}

// topKDigits returns the first bits of the digits by which the k-th key is found (top_k_bits of top_k.glsl).
func topKDigits(w structures.Width) []uint32 {
	if w == structures.Bits64 {
		return []uint32{53, 42, 32, 21, 10, 0}
	}
	return []uint32{21, 10, 0}
}

const topKBins = 1 << 11

type topKCountPush struct {
	Keys, Counts, Known   uint64
	Length                length
	K, Flip, Digit, Shift uint32
}

type topKRankPush struct {
	Keys, Counts, Known, Bound, Less, Equals, Taken, OutCount uint64
	Length                                                    length
	K, Flip                                                   uint32
}

type topKTakePush struct {
	Keys, Values, Bound, Less, Equals, OutKeys, OutValues uint64
	Length                                                length
	Flip, Most                                            uint32
}

type topKFlipPush struct {
	Keys   uint64
	Length length
}

func topKKernel[P any](step string) recording.Spec[P] {
	return recording.Of[P]("primitives/top_k_"+step, topKShape.workgroup, topKShape.constant())
}

func topKCountKernel(w structures.Width) recording.Spec[topKCountPush] {
	return topKKernel[topKCountPush](recording.OfKeys("count", w))
}

func topKRankKernel(w structures.Width) recording.Spec[topKRankPush] {
	return topKKernel[topKRankPush](recording.OfKeys("rank", w))
}

func (a TopKArgs) takeKernel() recording.Spec[topKTakePush] {
	return topKKernel[topKTakePush](a.Widths.module("take", true))
}

func topKFlipKernel(w structures.Width) recording.Spec[topKFlipPush] {
	return recording.Of[topKFlipPush](recording.OfKeys("primitives/top_k_flip", w), 128)
}

func (a TopKArgs) kernels(p *Primitives) recording.Table {
	if a.Values == 0 {
		a.Widths.Value = structures.Bits32
	}
	sort := SortArgs{Values: recording.Align, Length: Length{N: a.K}, Widths: a.Widths}
	return append(sort.kernels(p), topKCountKernel(a.Widths.Key), topKRankKernel(a.Widths.Key), a.takeKernel(),
		topKFlipKernel(a.Widths.Key))
}

// topKPlan is the division of the scratch memory of TopK.
type topKPlan struct {
	counts       uint64 // of each digit
	known        uint64 // for each digit, and one more
	taken        uint64
	less, equal  uint64 // of each chunk
	keys, values uint64 // the keys that were taken, unsorted
	sort         uint64
	bytes        uint64
}

func (p *Primitives) topKPlan(k int, w Widths, scratch uint64) topKPlan {
	s, digits := recording.Parts{Base: scratch}, len(topKDigits(w.Key))
	plan := topKPlan{
		counts: s.Take(4 * topKBins * digits), known: s.Take(int(topKKnown(w.Key, digits+1))), taken: s.Take(4),
		less: s.Take(4 * topKShape.chunks), equal: s.Take(4 * topKShape.chunks),
		keys: s.Take(w.Key.Bytes() * k), values: s.Take(w.Value.Bytes() * k), sort: s.Take(p.sortScratch(k, true, w)),
	}
	plan.bytes = s.Used
	return plan
}

// topKKnown returns the bytes of n TopK structs of top_k.glsl.
func topKKnown(w structures.Width, n int) uint64 { return uint64(2 * w.Bytes() * n) }

// topKScratch returns the bytes of scratch memory that TopK needs for up to n keys.
func (p *Primitives) topKScratch(n, k int, w Widths) int {
	return int(p.topKPlan(max(0, min(n, k, MaxLength)), w, 0).bytes)
}

// TopK records a search for the k greatest or least keys, and writes them in order. Among equal keys, the first ones
// are taken and come first. The input is not changed, and must not overlap the output or the scratch memory.
//
// A radix selection finds the k-th key. It reads the keys three times, or up to six times if they have 64 bits. Two
// more passes pick the keys, which are then sorted. So a small k costs hardly more than a sum.
//
// Errors: *structures.CountError, *vk.OptionError, ErrNoMemory, and those of making a kernel.
func (p *Primitives) TopK(s *vk.Stream, a TopKArgs) error {
	if !p.made() {
		return vk.ErrNotOpen
	}
	if err := a.Length.check(); err != nil {
		return err
	}
	if a.K < 0 {
		return &structures.CountError{What: "elements to be taken", N: a.K, Most: MaxLength}
	}
	if a.Values == 0 {
		a.Widths.Value = structures.Bits32
	}
	if err := a.Widths.check(); err != nil {
		return err
	}
	a.K = min(a.K, a.Length.N)
	if a.K == 0 {
		if a.OutCount == 0 {
			return nil
		}
		return p.whole(s, func() error { return p.clear(s, a.OutCount, 4) })
	}
	if a.Keys == 0 || a.OutKeys == 0 || a.OutValues == 0 || a.Scratch == 0 {
		return ErrNoMemory
	}
	return p.whole(s, func() error { return p.topK(s, a) })
}

func (p *Primitives) topK(s *vk.Stream, a TopKArgs) error {
	plan, k, flip := p.topKPlan(a.K, a.Widths, a.Scratch), uint32(a.K), ^uint32(0)
	if a.Least {
		flip = 0
	}
	if err := p.topKFind(s, a, plan, flip); err != nil {
		return err
	}
	take, err := a.takeKernel().Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	bound := plan.known + topKKnown(a.Widths.Key, len(topKDigits(a.Widths.Key)))
	take.Dispatch(s, topKShape.chunksOf(a.Length.N, a.Widths.Key), topKTakePush{
		a.Keys, a.Values, bound, plan.less, plan.equal, plan.keys, plan.values, a.Length.device(), flip, k,
	})
	taken := Length{N: int(k), At: plan.taken}
	err = p.Sort(s, SortArgs{
		Keys: plan.keys, Values: plan.values, OutKeys: a.OutKeys, OutValues: a.OutValues, Length: taken,
		Widths: a.Widths, Scratch: plan.sort,
	})
	if err != nil || a.Least {
		return err
	}
	back, err := topKFlipKernel(a.Widths.Key).Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	back.Dispatch(s, groups(a.K, back.Workgroup()), topKFlipPush{a.OutKeys, taken.device()})
	return nil
}

// topKFind records the search for the k-th key, and the counting of the keys before it and of its equals.
func (p *Primitives) topKFind(s *vk.Stream, a TopKArgs, plan topKPlan, flip uint32) error {
	w := a.Widths.Key
	count, err := topKCountKernel(w).Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	rank, err := topKRankKernel(w).Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	digits := topKDigits(w)
	if err := p.clear(s, plan.counts, 4*topKBins*len(digits)); err != nil {
		return err
	}
	chunks, k, last := topKShape.chunksOf(a.Length.N, w), uint32(a.K), len(digits)-1
	for i, shift := range digits {
		count.Dispatch(s, chunks, topKCountPush{
			a.Keys, plan.counts, plan.known, a.Length.device(), k, flip, uint32(i), shift,
		})
	}
	rank.Dispatch(s, chunks, topKRankPush{
		a.Keys, plan.counts + uint64(4*topKBins*last), plan.known + topKKnown(w, last),
		plan.known + topKKnown(w, last+1), plan.less, plan.equal, plan.taken, a.OutCount, a.Length.device(), k, flip,
	})
	return nil
}
