package primitives

import (
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// TopKArgs say what TopK works on.
type TopKArgs struct {
	Keys      uint64 // words: what is compared
	Values    uint64 // 0, or as many words
	OutKeys   uint64 // K words, or as many as Length where that is less
	OutValues uint64 // the same: of each key its value; without Values its number in Keys, from 0 on
	OutCount  uint64 // 0, or a word for how many there are: K, or Length where that is less
	K         int
	Least     bool // the least keys, the least one first; otherwise the greatest, the greatest one first
	Length    Length
	Scratch   uint64 // TopKScratch bytes
}

// topKShape is how the keys are laid over workgroups. The counts of a digit are looked through by each of them.
var topKShape = shape{workgroup: 256, quads: 4, chunks: 1024}

// topKDigits are the digits by which the k-th key is found, of TOP_K_BITS bits but for the last one.
var topKDigits = [...]struct{ shift, bits uint32 }{{21, 11}, {10, 11}, {0, 10}}

const topKBins = 1 << 11

type topKCountPush struct {
	Keys, Counts, Known         uint64
	Length                      length
	K, Flip, Digit, Shift, Bits uint32
}

type topKRankPush struct {
	Keys, Counts, Known, Bound, Less, Equals, Taken, OutCount uint64
	Length                                                    length
	K, Flip, Bits                                             uint32
}

type topKTakePush struct {
	Keys, Values, Bound, Less, Equals, OutKeys, OutValues uint64
	Length                                                length
	Flip, Most                                            uint32
}

type topKFlipPush struct {
	Words  uint64
	Length length
}

// topKPlan is how the scratch of TopK is divided.
type topKPlan struct {
	counts       uint64 // of each digit
	known        uint64 // two words a digit, and two more
	taken        uint64
	less, equal  uint64 // of each chunk
	keys, values uint64 // taken, but not in order
	sort         uint64
	bytes        uint64
}

func (p *Primitives) topKPlan(k int, scratch uint64) topKPlan {
	s := recording.Parts{Base: scratch}
	plan := topKPlan{
		counts: s.Take(4 * topKBins * len(topKDigits)), known: s.Take(8 * (len(topKDigits) + 1)), taken: s.Take(4),
		less: s.Take(4 * topKShape.chunks), equal: s.Take(4 * topKShape.chunks),
		keys: s.Take(4 * k), values: s.Take(4 * k), sort: s.Take(p.SortScratch(k, true)),
	}
	plan.bytes = s.Used
	return plan
}

// TopKScratch returns the bytes of scratch that TopK of up to n keys needs.
func (p *Primitives) TopKScratch(n, k int) int {
	return int(p.topKPlan(max(0, min(n, k, MaxLength)), 0).bytes)
}

// TopK records the search for the k greatest or least keys, and writes them in order. Of equal keys the first ones
// count, and stand first. The input stays as it is, and overlaps neither the output nor the scratch. The k-th key is
// found by a radix selection, which reads the keys three times; they are read twice more, and what is taken of them is
// sorted: so a small k costs hardly more than a sum.
//
// Errors: *structures.CountError, ErrNoMemory, and those of making a kernel.
func (p *Primitives) TopK(s *vk.Stream, a TopKArgs) error {
	if err := a.Length.check(); err != nil {
		return err
	}
	if a.K < 0 {
		return &structures.CountError{What: "elements to be taken", N: a.K, Most: MaxLength}
	}
	a.K = min(a.K, a.Length.N)
	if a.K == 0 {
		if a.OutCount == 0 {
			return nil
		}
		return s.Whole(func() error { return p.clear(s, a.OutCount, 4) })
	}
	if a.Keys == 0 || a.OutKeys == 0 || a.OutValues == 0 || a.Scratch == 0 {
		return ErrNoMemory
	}
	return s.Whole(func() error { return p.topK(s, a) })
}

func (p *Primitives) topK(s *vk.Stream, a TopKArgs) error {
	plan, k, flip := p.topKPlan(a.K, a.Scratch), uint32(a.K), ^uint32(0)
	if a.Least {
		flip = 0
	}
	if err := p.topKFind(s, a, plan, flip); err != nil {
		return err
	}
	take, err := topKKernel[topKTakePush](p, s, "take")
	if err != nil {
		return err
	}
	take.Dispatch(s, topKShape.chunksOf(a.Length.N), topKTakePush{
		a.Keys, a.Values, plan.known + uint64(8*len(topKDigits)), plan.less, plan.equal, plan.keys, plan.values,
		a.Length.device(), flip, k,
	})
	taken := Length{N: int(k), At: plan.taken}
	err = p.Sort(s, SortArgs{
		Keys: plan.keys, Values: plan.values, OutKeys: a.OutKeys, OutValues: a.OutValues, Length: taken,
		Scratch: plan.sort,
	})
	if err != nil || a.Least {
		return err
	}
	back, err := recording.Kernel[topKFlipPush](p.kernels, s, "primitives/top_k_flip", 128)
	if err != nil {
		return err
	}
	back.Dispatch(s, groups(a.K, back.Workgroup()), topKFlipPush{a.OutKeys, taken.device()})
	return nil
}

// topKFind records the search for the k-th key, and the counting of those before it and of its equals.
func (p *Primitives) topKFind(s *vk.Stream, a TopKArgs, plan topKPlan, flip uint32) error {
	count, err := topKKernel[topKCountPush](p, s, "count")
	if err != nil {
		return err
	}
	rank, err := topKKernel[topKRankPush](p, s, "rank")
	if err != nil {
		return err
	}
	if err := p.clear(s, plan.counts, 4*topKBins*len(topKDigits)); err != nil {
		return err
	}
	chunks, k, last := topKShape.chunksOf(a.Length.N), uint32(a.K), len(topKDigits)-1
	for i, d := range topKDigits {
		count.Dispatch(s, chunks, topKCountPush{
			a.Keys, plan.counts, plan.known, a.Length.device(), k, flip, uint32(i), d.shift, d.bits,
		})
	}
	rank.Dispatch(s, chunks, topKRankPush{
		a.Keys, plan.counts + uint64(4*topKBins*last), plan.known + uint64(8*last), plan.known + uint64(8*(last+1)),
		plan.less, plan.equal, plan.taken, a.OutCount, a.Length.device(), k, flip, topKDigits[last].bits,
	})
	return nil
}

func topKKernel[P any](p *Primitives, s *vk.Stream, step string) (*vk.Kernel[P], error) {
	quads := recording.Constant("QUADS", uint32(topKShape.quads))
	return recording.Kernel[P](p.kernels, s, "primitives/top_k_"+step, topKShape.workgroup, quads)
}
