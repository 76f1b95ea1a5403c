package primitives

import (
	"math/bits"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// SortArgs are the operands of Sort.
type SortArgs struct {
	Keys, Values       uint64 // addresses of Length elements each; Values 0: keys alone
	OutKeys, OutValues uint64 // the same, for the result
	Length             Length
	Widths             Widths
	FirstBit, Bits     int    // what keys are compared by: Bits bits from FirstBit on; Bits 0: all from FirstBit on
	Scratch            uint64 // SortScratch bytes
}

// A pass brings the elements into the order of a digit of up to 8 bits, all of them in one word of the key.
const (
	digitBits = 8
	radix     = 1 << digitBits
	maxPasses = 64 / digitBits

	mostUpper = 5 // passes by upper digits before a local sort
)

// tileShape is how a workgroup is laid out in the kernels of a sort.
type tileShape struct{ workgroup, subgroups, items int }

func (t tileShape) elements() int { return t.workgroup * t.items }

// shared is the bytes of shared memory that a tile takes in the kernels: a row of counters a subgroup, of which the
// keys take the place; where values follow, the keys' digits; and a word a digit
// (shaders/primitives/sort_tile.glsl).
func (t tileShape) shared(subgroup int, pairs bool, w Widths) int {
	digits := 0
	if pairs {
		digits = t.elements() / 4
		if t.items%4 != 0 {
			digits *= 2
		}
	}
	return 4*(max(radix*t.workgroup/subgroup, w.Key.Bytes()/4*t.elements())+digits+radix) + 256
}

// sortTile returns the shape for so many elements: what measured best on the H200 (docs/benchmarks.md). Small sorts
// want many tiles, so that all of the device has work; large ones large tiles, whose digits come in longer runs, of
// which two still are on a multiprocessor at once.
func (p *Primitives) sortTile(n int, pairs bool, w Widths) tileShape {
	info, s := p.d.Info(), p.d.SubgroupSize()
	t := tileShape{workgroup: s, items: 32} // on a CPU subgroups share nothing, and each has its counters to clear
	switch wide := w.Key == structures.Bits64; {
	case p.sorts.items != 0:
		t = p.sorts
	case info.Type == vk.CPU:
	case n <= 1<<18:
		t = tileShape{workgroup: 512, items: 4}
	case n <= 1<<19:
		t = tileShape{workgroup: 512, items: 8}
	case !pairs && !wide:
		t = tileShape{workgroup: 384, items: 22}
	case n <= 1<<20, pairs && wide && n <= 1<<23:
		t = tileShape{workgroup: 384, items: 12}
	case n <= 1<<23 && wide:
		t = tileShape{workgroup: 384, items: 14}
	case n <= 1<<23:
		t = tileShape{workgroup: 512, items: 12}
	case !wide:
		t = tileShape{workgroup: 384, items: 18}
	case pairs:
		t = tileShape{workgroup: 256, items: 20}
	default:
		t = tileShape{workgroup: 256, items: 22}
	}
	// What doesn't fit is made to: each subgroup has a row of counters, which the elements' room takes the place of.
	// Below the number of digits a workgroup has a power of two, so that its lanes share the digits out evenly.
	for t.workgroup > s && (t.workgroup > info.MaxWorkgroup ||
		t.shared(s, pairs, w) > info.SharedBytes) {
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

	// what is zero at the beginning: the counts of each digit's values, which become places; the tiles that have begun
	// each pass; the workgroups that have counted
	counters uint64
	steps    uint64 // the plan: what is done, a word a step (shaders/primitives/sort_plan.glsl)

	// single-pass form
	published [2]uint64

	// multi-pass form
	totals uint64
	counts uint64

	bytes uint64
}

// publishes is how many words the tiles of a pass publish.
func (plan sortPlan) publishes() uint32 { return uint32(plan.tiles * radix) }

const (
	sortCounters = maxPasses*radix + maxPasses + mostUpper + 1
	sortSteps    = 2*maxPasses + mostUpper + 1
)

func (p *Primitives) sortPlan(n int, pairs bool, w Widths, scratch uint64) sortPlan {
	s := recording.Parts{Base: scratch}
	plan := sortPlan{tile: p.sortTile(n, pairs, w)}
	plan.tiles = groups(n, plan.tile.elements())
	plan.keys = s.Take(w.Key.Bytes() * n)
	if pairs {
		plan.values = s.Take(w.Value.Bytes() * n)
	}
	plan.counters = s.Take(4 * sortCounters)
	plan.steps = s.Take(4 * sortSteps)
	if p.form == SinglePass {
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

// taken and ended are counters behind those of the digits.
func (plan sortPlan) taken(number int) uint64 {
	return plan.counters + uint64(4*(maxPasses*radix+number))
}
func (plan sortPlan) ended() uint64 { return plan.taken(maxPasses + mostUpper) }

// sortPass is a pass that may be made: where it comes among those that follow one another, the step that the device
// notes for it, and the counter of its tiles.
type sortPass struct {
	number      int
	step, taken uint64
}

// all is one of the passes by all digits, and upper one of those by the upper digits, behind which there is a local sort.
func (plan sortPlan) all(i int) sortPass { return sortPass{i, plan.steps + uint64(4*i), plan.taken(i)} }
func (plan sortPlan) upper(i int) sortPass {
	return sortPass{i, plan.steps + uint64(4*(2*maxPasses+i)), plan.taken(maxPasses + i)}
}

// SortScratch returns the bytes of scratch that a sort of up to n keys or pairs needs.
func (p *Primitives) SortScratch(n int, pairs bool, w Widths) int {
	return int(p.sortPlan(max(0, min(n, MaxLength)), pairs, w, 0).bytes)
}

// Sort records a stable sort of keys, or of pairs by their keys, ascending: a radix sort by the least significant
// digit of 8 bits first. Digits that are the same in all keys take no pass, so that small numbers in wide keys are
// sorted as fast as in narrow ones. The input stays as it is; the output and the scratch overlap neither it nor each
// other.
//
// Errors: *structures.CountError, *WidthsError, *BitsError, ErrNoMemory, and what making a kernel may return.
//
// The single-pass form is Adinets and Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022,
// with a bounded wait; the multi-pass form counts and scans before each pass, Merrill and Grimshaw, High Performance
// and Scalable Radix Sorting, 2011.
func (p *Primitives) Sort(s *vk.Stream, a SortArgs) error {
	if err := a.Length.check(); err != nil {
		return err
	}
	if err := a.Widths.check(); err != nil {
		return err
	}
	width := a.Widths.Key.Bits()
	if a.FirstBit < 0 || a.FirstBit >= width || a.Bits < 0 || a.FirstBit+a.Bits > width {
		return &BitsError{a.FirstBit, a.Bits, width}
	}
	if a.Length.N == 0 {
		return nil
	}
	pairs := a.Values != 0
	if a.Keys == 0 || a.OutKeys == 0 || a.Scratch == 0 || pairs && a.OutValues == 0 {
		return ErrNoMemory
	}
	if a.Bits == 0 {
		a.Bits = width - a.FirstBit
	}
	plan := p.sortPlan(a.Length.N, pairs, a.Widths, a.Scratch)
	return s.Whole(func() error {
		upper := p.upperPasses(a)
		if err := p.sortHistogram(s, a, plan, upper); err != nil {
			return err
		}
		pass, err := p.sortPasses(s, a, plan)
		if err != nil {
			return err
		}
		for i := range upper {
			pass(plan.upper(i))
		}
		if upper > 0 {
			if err := p.sortLocal(s, a, plan); err != nil {
				return err
			}
		}
		for i := range a.digits() {
			pass(plan.all(i))
		}
		return nil
	})
}

// upperPasses is how many passes by upper digits there may be, with a local sort behind them, or 0: one more than digits
// without a preference need to tell the keys apart. A pass that the device then doesn't make takes some time, too.
func (p *Primitives) upperPasses(a SortArgs) int {
	if a.Widths.Key != structures.Bits64 || a.Bits <= 32 || a.Length.N < p.local {
		return 0
	}
	return min(bits.Len(uint(a.Length.N))/digitBits+2, mostUpper)
}

// digits are those that the keys are compared by, the least significant one first: each its first bit, and its mask
// from bit 8 on.
func (a SortArgs) digits() (digits []uint32) {
	for bit, end := a.FirstBit, a.FirstBit+a.Bits; bit < end; {
		width := min(digitBits, end-bit, 32-bit%32)
		digits = append(digits, uint32(bit)|(1<<width-1)<<8)
		bit += width
	}
	return digits
}

// loops is the variant of a module whose loops this device's compiler should have.
func (p *Primitives) loops() string {
	if p.d.Info().Type == vk.CPU {
		return ".rolled"
	}
	return ".unrolled"
}

// module is the name of the module that a kernel is compiled to for what is sorted.
func (a SortArgs) module(kernel string) string { return a.Widths.module(kernel, a.Values != 0) }

// far says whether elements of the output may be so far from its first that an array's index doesn't do (memory.glsl).
func (a SortArgs) far() recording.Specialization {
	if a.Length.N*max(a.Widths.Key, a.Widths.Value).Bytes() > 1<<31 {
		return recording.Constant("FAR", 1)
	}
	return recording.Constant("FAR", 0)
}

type histogramPush struct {
	Keys      uint64
	Counts    uint64
	Ended     uint64
	Published uint64
	Steps     uint64
	Publishes uint32
	Passes    uint32
	Digits    [maxPasses / 2]uint32
	Uppers    uint32
	_         uint32
	Length    length
}

// histogramGroups is the most workgroups that count digits: each adds its counts to the device's once.
const histogramGroups = 1024

// sortHistogram counts all digits, and so finds out which passes there are.
func (p *Primitives) sortHistogram(s *vk.Stream, a SortArgs, plan sortPlan, upper int) error {
	histogram, err := recording.Kernel[histogramPush](p.kernels, s,
		a.Widths.module("primitives/sort_histogram", false), plan.tile.workgroup,
		append(plan.tile.constants(), a.far())...)
	if err != nil {
		return err
	}
	if err := p.clear(s, plan.counters, 4*sortCounters); err != nil {
		return err
	}
	push := histogramPush{
		Keys: a.Keys, Counts: plan.counters, Ended: plan.ended(), Published: plan.published[0], Steps: plan.steps,
		Passes: uint32(len(a.digits())), Uppers: uint32(upper), Length: a.Length.device(),
	}
	if p.form == SinglePass {
		push.Publishes = plan.publishes()
	}
	for i, digit := range a.digits() {
		push.Digits[i/2] |= digit << (16 * (i % 2))
	}
	histogram.Dispatch(s, min(plan.tiles, histogramGroups), push)
	return nil
}

// stepArrays are what a step reads and writes: of each two the second one, if the device turns the step round
// (shaders/primitives/sort_step.glsl). The first step reads the input, and the last one writes the output.
type stepArrays struct{ Keys, Values, OutKeys, OutValues [2]uint64 }

func (a SortArgs) arrays(plan sortPlan, number int) stepArrays {
	arrays := stepArrays{
		[2]uint64{plan.keys, a.OutKeys}, [2]uint64{plan.values, a.OutValues},
		[2]uint64{a.OutKeys, plan.keys}, [2]uint64{a.OutValues, plan.values},
	}
	if number == 0 {
		arrays.Keys, arrays.Values = [2]uint64{a.Keys, a.Keys}, [2]uint64{a.Values, a.Values}
	}
	return arrays
}

type scatterSinglePush struct {
	Arrays           stepArrays
	Published, Spare uint64
	Places, Taken    uint64
	Step             uint64
	Tiles            uint32
	_                uint32
	Length           length
}

// sortPasses returns what records a pass.
func (p *Primitives) sortPasses(s *vk.Stream, a SortArgs, plan sortPlan) (func(sortPass), error) {
	if p.form == SinglePass {
		return p.sortSingle(s, a, plan)
	}
	return p.sortMulti(s, a, plan)
}

func (p *Primitives) sortSingle(s *vk.Stream, a SortArgs, plan sortPlan) (func(sortPass), error) {
	constants := append(plan.tile.constants(), a.far(), recording.Constant("PATIENCE", p.patience))
	scatter, err := recording.Kernel[scatterSinglePush](p.kernels, s, a.module("primitives/sort_scatter")+p.loops(),
		plan.tile.workgroup, constants...)
	if err != nil {
		return nil, err
	}
	return func(pass sortPass) {
		i := pass.number
		scatter.Dispatch(s, plan.tiles, scatterSinglePush{
			Arrays:    a.arrays(plan, i),
			Published: plan.published[i%2], Spare: plan.published[(i+1)%2],
			Places: plan.counters, Taken: pass.taken, Step: pass.step,
			Tiles: uint32(plan.tiles), Length: a.Length.device(),
		})
	}, nil
}

type countPush struct {
	Keys         [2]uint64
	Counts, Step uint64
	Tiles        uint32
	_            uint32
	Length       length
}

type rowsPush struct {
	Counts, Totals uint64
	Tiles          uint32
}

type scatterMultiPush struct {
	Arrays              stepArrays
	DigitTotals, Counts uint64
	Step                uint64
	Tiles               uint32
	_                   uint32
	Length              length
}

func (p *Primitives) sortMulti(s *vk.Stream, a SortArgs, plan sortPlan) (func(sortPass), error) {
	tile, tiles := plan.tile, uint32(plan.tiles)
	count, err := recording.Kernel[countPush](p.kernels, s, a.Widths.module("primitives/sort_count", false)+p.loops(),
		tile.workgroup, tile.constants()...)
	if err != nil {
		return nil, err
	}
	scan, err := recording.Kernel[rowsPush](p.kernels, s, "primitives/sort_scan", tile.workgroup)
	if err != nil {
		return nil, err
	}
	scatter, err := recording.Kernel[scatterMultiPush](p.kernels, s,
		a.module("primitives/sort_scatter_counted")+p.loops(), tile.workgroup, append(tile.constants(), a.far())...)
	if err != nil {
		return nil, err
	}
	return func(pass sortPass) {
		arrays := a.arrays(plan, pass.number)
		count.Dispatch(s, plan.tiles, countPush{
			Keys: arrays.Keys, Counts: plan.counts, Step: pass.step, Tiles: tiles, Length: a.Length.device(),
		})
		scan.Dispatch(s, radix, rowsPush{plan.counts, plan.totals, tiles})
		scatter.Dispatch(s, plan.tiles, scatterMultiPush{
			Arrays: arrays, DigitTotals: plan.totals, Counts: plan.counts, Step: pass.step, Tiles: tiles,
			Length: a.Length.device(),
		})
	}, nil
}

type localPush struct {
	Keys, Values       uint64
	OutKeys, OutValues uint64
	Steps              uint64
	Counts, Published  uint64
	Compared           uint64
	Publishes          uint32
	_                  uint32
	Length             length
}

// localElements are those of a workgroup of a local sort.
const (
	localWorkgroup = 128
	localElements  = 4 * localWorkgroup
)

func (p *Primitives) sortLocal(s *vk.Stream, a SortArgs, plan sortPlan) error {
	k, err := recording.Kernel[localPush](p.kernels, s, a.module("primitives/sort_local"), localWorkgroup)
	if err != nil {
		return err
	}
	push := localPush{
		Keys: plan.keys, Values: plan.values, OutKeys: a.OutKeys, OutValues: a.OutValues,
		Steps: plan.steps, Counts: plan.counters, Published: plan.published[0],
		Compared: (1<<a.Bits - 1) << a.FirstBit, Length: a.Length.device(),
	}
	if p.form == SinglePass {
		push.Publishes = plan.publishes()
	}
	k.Dispatch(s, groups(a.Length.N, localElements), push)
	return nil
}
