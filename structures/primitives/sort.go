package primitives

import (
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// SortArgs are the operands of Sort.
type SortArgs struct {
	Keys, Values       uint64 // addresses of Length words each; Values 0: keys alone
	OutKeys, OutValues uint64 // the same, for the result
	Length             Length
	FirstBit, Bits     int    // what keys are compared by: Bits bits from FirstBit on; Bits 0: all from FirstBit on
	Scratch            uint64 // SortScratch bytes
}

// A pass brings the elements into the order of a digit of 8 bits.
const (
	digitBits = 8
	radix     = 1 << digitBits
	maxPasses = 32 / digitBits
)

// tileShape is how a workgroup is laid out in the kernels of a sort.
type tileShape struct{ workgroup, subgroups, items int }

func (t tileShape) elements() int { return t.workgroup * t.items }

// sortTile returns the shape for so many elements: what measured best on the H200 (docs/benchmarks.md). Small sorts
// want many tiles, so that all of the device has work; large ones large tiles, whose digits come in longer runs.
func (p *Primitives) sortTile(n int) tileShape {
	info, s := p.d.Info(), p.d.SubgroupSize()
	t := tileShape{workgroup: s, items: 32} // on a CPU subgroups share nothing, and each has its counters to clear
	switch {
	case p.sorts.items != 0:
		t = p.sorts
	case info.Type == vk.CPU:
	case n <= 1<<18:
		t = tileShape{workgroup: 512, items: 4}
	case n <= 1<<20:
		t = tileShape{workgroup: 512, items: 8}
	case n <= 1<<23:
		t = tileShape{workgroup: 384, items: 14}
	default:
		t = tileShape{workgroup: 256, items: 22}
	}
	// What doesn't fit is made to: each subgroup has a row of counters, and each element two words. Below the number of
	// digits a workgroup has a power of two, so that its lanes share the digits out evenly.
	for t.workgroup > s && (t.workgroup > info.MaxWorkgroup || max(4*radix*t.workgroup/s, 8*t.elements())+4*radix+
		64 > info.SharedBytes) {
		if t.workgroup > radix {
			t.workgroup = radix
		} else {
			t.workgroup /= 2
		}
	}
	t.subgroups = t.workgroup / s
	return t
}

func (t tileShape) constants() []recording.Specialization {
	return []recording.Specialization{recording.Constant("SUBGROUPS", uint32(t.subgroups)),
		recording.Constant("ITEMS", uint32(t.items))}
}

// sortPlan is how a sort's scratch is divided.
type sortPlan struct {
	tile   tileShape
	tiles  int
	keys   uint64 // of the elements between two passes
	values uint64

	// single-pass form
	counters  uint64 // places of each pass's digits, then the tiles that have begun each pass, then those that ended
	published [2]uint64

	// multi-pass form
	totals uint64
	counts uint64

	bytes uint64
}

const sortCounters = maxPasses*radix + maxPasses + 1

func (p *Primitives) sortPlan(n int, pairs bool, scratch uint64) sortPlan {
	s := recording.Parts{Base: scratch}
	plan := sortPlan{tile: p.sortTile(n)}
	plan.tiles = groups(n, plan.tile.elements())
	plan.keys = s.Take(4 * n)
	if pairs {
		plan.values = s.Take(4 * n)
	}
	if p.form == SinglePass {
		plan.counters = s.Take(4 * sortCounters)
		for i := range plan.published {
			plan.published[i] = s.Take(4 * radix * (plan.tiles + 1))
		}
	} else {
		plan.totals = s.Take(4 * radix)
		plan.counts = s.Take(4 * radix * plan.tiles)
	}
	plan.bytes = s.Used
	return plan
}

// SortScratch returns the bytes of scratch that a sort of up to n keys or pairs needs.
func (p *Primitives) SortScratch(n int, pairs bool) int {
	return int(p.sortPlan(max(0, min(n, MaxLength)), pairs, 0).bytes)
}

// Sort records a stable sort of keys, or of pairs by their keys, ascending: a radix sort by the least significant
// digit first. The input stays as it is; the output and the scratch overlap neither it nor each other.
//
// Errors: *structures.CountError, *BitsError, ErrNoMemory, and what making a kernel may return.
//
// The single-pass form is Adinets and Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022,
// with a bounded wait; the multi-pass form counts and scans before each pass, Merrill and Grimshaw, High Performance
// and Scalable Radix Sorting, 2011.
func (p *Primitives) Sort(s *vk.Stream, a SortArgs) error {
	if err := a.Length.check(); err != nil {
		return err
	}
	if a.FirstBit < 0 || a.FirstBit > 31 || a.Bits < 0 || a.FirstBit+a.Bits > 32 {
		return &BitsError{a.FirstBit, a.Bits}
	}
	if a.Length.N == 0 {
		return nil
	}
	pairs := a.Values != 0
	if a.Keys == 0 || a.OutKeys == 0 || a.Scratch == 0 || pairs && a.OutValues == 0 {
		return ErrNoMemory
	}
	if a.Bits == 0 {
		a.Bits = 32 - a.FirstBit
	}
	plan := p.sortPlan(a.Length.N, pairs, a.Scratch)
	return s.Whole(func() error {
		if p.form == SinglePass {
			return p.sortSingle(s, a, plan)
		}
		return p.sortMulti(s, a, plan)
	})
}

// sortPass is a pass over the elements: where they come from, where they go, and by which digit.
type sortPass struct {
	keys, values, outKeys, outValues uint64
	shift, width                     int
}

func (s sortPass) digitAt() uint32 { return uint32(s.shift) | (1<<s.width-1)<<16 }

// passes lays the passes out so that the last one writes the output.
func (a SortArgs) passes(plan sortPlan) []sortPass {
	n := groups(a.Bits, digitBits)
	passes := make([]sortPass, n)
	keys, values := a.Keys, a.Values
	for i := range passes {
		outKeys, outValues := a.OutKeys, a.OutValues
		if (n-1-i)%2 != 0 {
			outKeys, outValues = plan.keys, plan.values
		}
		passes[i] = sortPass{keys, values, outKeys, outValues, a.FirstBit + digitBits*i,
			min(digitBits, a.Bits-digitBits*i)}
		keys, values = outKeys, outValues
	}
	return passes
}

// loops is the variant of a module whose loops this device's compiler should have.
func (p *Primitives) loops() string {
	if p.d.Info().Type == vk.CPU {
		return ".rolled"
	}
	return ".unrolled"
}

func (a SortArgs) what() string {
	if a.Values != 0 {
		return "pairs"
	}
	return "keys"
}

type histogramPush struct {
	Keys      uint64
	Counts    uint64
	Ended     uint64
	Published uint64
	Publishes uint32
	First     uint32
	Bits      uint32
	_         uint32
	Length    length
}

// far says whether words of the output may be so far from its first that an array's index doesn't do (memory.glsl).
func (a SortArgs) far() recording.Specialization {
	if a.Length.N > 1<<29 {
		return recording.Constant("FAR", 1)
	}
	return recording.Constant("FAR", 0)
}

type scatterSinglePush struct {
	Keys, Values, OutKeys, OutValues uint64
	Published, Spare, Places, Taken  uint64
	Tiles, DigitAt                   uint32
	Length                           length
}

func (p *Primitives) sortSingle(s *vk.Stream, a SortArgs, plan sortPlan) error {
	tile := plan.tile
	histogram, err := recording.Kernel[histogramPush](p.kernels, s, "primitives/sort_histogram", tile.workgroup,
		append(tile.constants(), a.far())...)
	if err != nil {
		return err
	}
	constants := append(tile.constants(), a.far(), recording.Constant("PATIENCE", p.patience))
	scatter, err := recording.Kernel[scatterSinglePush](p.kernels, s, "primitives/sort_scatter."+a.what()+p.loops(),
		tile.workgroup, constants...)
	if err != nil {
		return err
	}
	taken := plan.counters + 4*maxPasses*radix
	ended := taken + 4*maxPasses
	if err := p.clear(s, plan.counters, 4*sortCounters); err != nil {
		return err
	}
	histogram.Dispatch(s, min(plan.tiles, histogramGroups), histogramPush{
		Keys: a.Keys, Counts: plan.counters, Ended: ended, Published: plan.published[0],
		Publishes: uint32(plan.tiles * radix),
		First:     uint32(a.FirstBit), Bits: uint32(a.Bits), Length: a.Length.device(),
	})
	for i, pass := range a.passes(plan) {
		scatter.Dispatch(s, plan.tiles, scatterSinglePush{
			Keys: pass.keys, Values: pass.values, OutKeys: pass.outKeys, OutValues: pass.outValues,
			Published: plan.published[i%2], Spare: plan.published[(i+1)%2],
			Places: plan.counters + uint64(4*radix*min(i+1, maxPasses-1)),
			Taken:  taken + uint64(4*i), Tiles: uint32(plan.tiles), DigitAt: pass.digitAt(), Length: a.Length.device(),
		})
	}
	return nil
}

// histogramGroups is the most workgroups that count digits: each adds its counts to the device's once.
const histogramGroups = 1024

type countPush struct {
	Keys, Counts       uint64
	Tiles, Shift, Mask uint32
	_                  uint32
	Length             length
}

type rowsPush struct {
	Counts, Totals uint64
	Tiles          uint32
}

type scatterMultiPush struct {
	Keys, Values, OutKeys, OutValues uint64
	DigitTotals, Counts              uint64
	Tiles, DigitAt                   uint32
	Length                           length
}

func (p *Primitives) sortMulti(s *vk.Stream, a SortArgs, plan sortPlan) error {
	tile := plan.tile
	count, err := recording.Kernel[countPush](p.kernels, s, "primitives/sort_count"+p.loops(), tile.workgroup,
		tile.constants()...)
	if err != nil {
		return err
	}
	scan, err := recording.Kernel[rowsPush](p.kernels, s, "primitives/sort_scan", tile.workgroup)
	if err != nil {
		return err
	}
	scatter, err := recording.Kernel[scatterMultiPush](p.kernels, s,
		"primitives/sort_scatter_counted."+a.what()+p.loops(), tile.workgroup, append(tile.constants(), a.far())...)
	if err != nil {
		return err
	}
	for _, pass := range a.passes(plan) {
		count.Dispatch(s, plan.tiles, countPush{
			Keys: pass.keys, Counts: plan.counts, Tiles: uint32(plan.tiles), Shift: uint32(pass.shift),
			Mask:   1<<pass.width - 1,
			Length: a.Length.device(),
		})
		scan.Dispatch(s, radix, rowsPush{plan.counts, plan.totals, uint32(plan.tiles)})
		scatter.Dispatch(s, plan.tiles, scatterMultiPush{
			Keys: pass.keys, Values: pass.values, OutKeys: pass.outKeys, OutValues: pass.outValues,
			DigitTotals: plan.totals, Counts: plan.counts, Tiles: uint32(plan.tiles), DigitAt: pass.digitAt(),
			Length: a.Length.device(),
		})
	}
	return nil
}
