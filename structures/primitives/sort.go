package primitives

import (
	"cmp"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

// SortArgs are the operands of Sort.
type SortArgs struct {
	Keys, Values       uint64 // addresses of Length elements each; Values 0: keys alone
	OutKeys, OutValues uint64 // the same, for the result
	Length             Length
	Widths             Widths
	FirstBit, Bits     int    // keys are compared by Bits bits from FirstBit on; 0: all bits from FirstBit on
	Scratch            uint64 // as many bytes as Scratch says
}

// sortScratch returns the bytes of scratch memory that a sort of up to n keys or pairs needs.
func (p *Primitives) sortScratch(n int, pairs bool, w Widths) int {
	return int(p.sortPlan(max(0, min(n, MaxLength)), pairs, w, 0).bytes)
}

// Sort records a stable, ascending sort of keys, or of pairs by their keys. It is a radix sort with digits of 8 bits,
// the least significant first. A digit that is equal in all keys takes no pass, so small numbers in wide keys are
// sorted as fast as in narrow ones. If the upper digits almost suffice to tell wide keys apart, as in random keys, only
// these take passes, and a local sort follows. The input is not changed. The output and the scratch memory must not
// overlap it or each other.
//
// Errors: *structures.CountError, *vk.OptionError, ErrNoMemory, and those of making a kernel.
//
// The single-pass form is that of Adinets and Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs,
// 2022, with a bounded wait. The multi-pass form counts and scans before each pass: Merrill and Grimshaw, High
// Performance and Scalable Radix Sorting, 2011. Local sorts after upper digits are from Stehle and Jacobsen, A Memory
// Bandwidth-Efficient Hybrid Radix Sort on GPUs, 2017.
func (p *Primitives) Sort(s *vk.Stream, a SortArgs) error {
	if !p.made() {
		return vk.ErrNotOpen
	}
	if err := a.Length.check(); err != nil {
		return err
	}
	if err := a.Widths.check(); err != nil {
		return err
	}
	width := a.Widths.Key.Bits()
	if a.FirstBit < 0 || a.FirstBit >= width || a.Bits < 0 || a.FirstBit+a.Bits > width {
		return noBits(a.FirstBit, a.Bits, width, width)
	}
	if a.Length.N == 0 {
		return nil
	}
	pairs := a.Values != 0
	if a.Keys == 0 || a.OutKeys == 0 || a.Scratch == 0 || pairs && a.OutValues == 0 {
		return ErrNoMemory
	}
	a = a.complete()
	form := int(a.Widths.Key)<<1 | int(a.Widths.Value)
	if pairs {
		form += 4
	}
	p.sorting.Begin(p.kernels, form, func() recording.Table { return a.kernelsOfLength(p) })
	if a.short(p) {
		return p.sortShort(s, a)
	}
	plan := p.sortPlan(a.Length.N, pairs, a.Widths, a.Scratch)
	return p.whole(s, func() error {
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

func (a SortArgs) complete() SortArgs {
	if a.Bits == 0 {
		a.Bits = a.Widths.Key.Bits() - a.FirstBit
	}
	return a
}

func (a SortArgs) kernels(p *Primitives) (all recording.Table) {
	a = a.complete()
	for _, a.Length.N = range sizes(cmp.Or(a.Length.N, MaxLength)) {
		all = append(all, a.kernelsOfLength(p)...)
	}
	return all
}

// kernelsOfLength lists the kernels of a sort of exactly that length.
func (a SortArgs) kernelsOfLength(p *Primitives) recording.Table {
	if a.short(p) {
		return recording.Table{a.shortKernel(p)}
	}
	tile := p.sortTile(a.Length.N, a.Values != 0, a.Widths)
	all := recording.Table{a.histogramKernel(tile)}
	if p.form == SinglePass {
		all = append(all, p.scatterKernel(a, tile))
	} else {
		k := p.sortMultiKernels(a, tile)
		all = append(all, k.count, k.scan, k.scatter)
	}
	if p.upperPasses(a) > 0 {
		all = append(all, a.localKernel())
	}
	return all
}

// sizes returns lengths of batches, up to most. For each threshold that depends on the length, there are lengths on
// both sides.
func sizes(most int) (all []int) {
	for n := 1; n <= most; n *= 2 {
		if all = append(all, n); n > 1 && n < most {
			all = append(all, n+1)
		}
	}
	return all
}

// digits returns the digits by which keys are compared, the least significant first. Each has its first bit, and its
// mask from bit 8 on.
func (a SortArgs) digits() (digits []uint32) {
	for bit, end := a.FirstBit, a.FirstBit+a.Bits; bit < end; {
		width := min(digitBits, end-bit, 32-bit%32)
		digits = append(digits, uint32(bit)|(1<<width-1)<<8)
		bit += width
	}
	return digits
}

// packed returns the digits of push constants: two per word.
func packed(digits []uint32) (words [maxPasses / 2]uint32) {
	for i, digit := range digits {
		words[i/2] |= digit << (16 * (i % 2))
	}
	return words
}

// module returns the name of a kernel's module for keys alone, or for pairs.
func (a SortArgs) module(kernel string) string { return a.Widths.module(kernel, a.Values != 0) }

// far reports whether elements may lie so far from the beginning of the output that an array index does not suffice
// (memory.glsl).
func (a SortArgs) far() recording.Specialization {
	if uint64(a.Length.N)*uint64(max(a.Widths.Key, a.Widths.Value).Bytes()) > 1<<31 {
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
	Tried     uint64
	Publishes uint32
	Passes    uint32
	Digits    [maxPasses / 2]uint32
	Uppers    uint32
	_         uint32
	Length    length
}

func (a SortArgs) histogramKernel(tile tileShape) recording.Spec[histogramPush] {
	return recording.Of[histogramPush](a.Widths.module("primitives/sort_histogram", false), tile.workgroup,
		append(tile.constants(), a.far())...)
}

// The most workgroups that count digits. Each adds its counts to the global ones once, and a CPU device has few cores.
const (
	histogramGroups    = 1024
	cpuHistogramGroups = 32
)

// sortHistogram counts all digits, and so determines the passes.
func (p *Primitives) sortHistogram(s *vk.Stream, a SortArgs, plan sortPlan, upper int) error {
	histogram, err := a.histogramKernel(plan.tile).Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	clears := 4 * sortCounters
	if upper > 0 {
		clears += 4 * triedWords
	}
	if err := p.clear(s, plan.counters, clears); err != nil {
		return err
	}
	push := histogramPush{
		Keys: a.Keys, Counts: plan.counters, Ended: plan.ended(), Published: plan.published[0],
		Steps: plan.steps, Tried: plan.tried,
		Passes: uint32(len(a.digits())), Uppers: uint32(upper), Length: a.Length.device(),
	}
	if p.form == SinglePass {
		push.Publishes = plan.publishes()
	}
	push.Digits = packed(a.digits())
	most := histogramGroups
	if p.cpuSorts {
		most = cpuHistogramGroups
	}
	histogram.Dispatch(s, min(plan.tiles, most), push)
	return nil
}

// stepArrays is the arrays that a step reads and writes. It uses the second one of each two if the device reverses the
// step (shaders/primitives/sort_step.glsl). The first step reads the input, and the last one writes the output.
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

// sortPasses returns a function that records a pass.
func (p *Primitives) sortPasses(s *vk.Stream, a SortArgs, plan sortPlan) (func(sortPass), error) {
	if p.form == SinglePass {
		return p.sortSingle(s, a, plan)
	}
	return p.sortMulti(s, a, plan)
}

func (p *Primitives) scatterKernel(a SortArgs, tile tileShape) recording.Spec[scatterSinglePush] {
	return recording.Of[scatterSinglePush](recording.ByLoops(p.d, a.module("primitives/sort_scatter")), tile.workgroup,
		append(tile.constants(), a.far(), recording.Constant("PATIENCE", p.patience))...)
}

func (p *Primitives) sortSingle(s *vk.Stream, a SortArgs, plan sortPlan) (func(sortPass), error) {
	scatter, err := p.scatterKernel(a, plan.tile).Kernel(p.kernels, s)
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
	Counts, Totals, Step uint64
	Tiles                uint32
}

type scatterMultiPush struct {
	Arrays              stepArrays
	DigitTotals, Counts uint64
	Step                uint64
	Tiles               uint32
	_                   uint32
	Length              length
}

// sortMultiKernels are the kernels of a pass in the multi-pass form.
type sortMultiKernels struct {
	count   recording.Spec[countPush]
	scan    recording.Spec[rowsPush]
	scatter recording.Spec[scatterMultiPush]
}

func (p *Primitives) sortMultiKernels(a SortArgs, tile tileShape) sortMultiKernels {
	k := sortMultiKernels{
		recording.Of[countPush](recording.ByLoops(p.d, a.Widths.module("primitives/sort_count", false)),
			tile.workgroup, tile.constants()...),
		recording.Of[rowsPush]("primitives/sort_scan", tile.workgroup),
		recording.Of[scatterMultiPush](recording.ByLoops(p.d, a.module("primitives/sort_scatter_counted")),
			tile.workgroup, append(tile.constants(), a.far())...),
	}
	if p.cpuSorts && tile.subgroups == 1 {
		k.scatter = recording.Of[scatterMultiPush](a.Widths.module("primitives/sort_scatter_ranked", true),
			tile.workgroup, tile.constants()...)
	}
	return k
}

// scanGroups returns the number of workgroups that scan the counts of the digits. On a CPU device, beginning a
// workgroup takes longer than the counts of a digit in a small sort.
func (p *Primitives) scanGroups() int {
	if p.cpuSorts {
		return radix / 16
	}
	return radix
}

func (p *Primitives) sortMulti(s *vk.Stream, a SortArgs, plan sortPlan) (func(sortPass), error) {
	k, tiles := p.sortMultiKernels(a, plan.tile), uint32(plan.tiles)
	count, err := k.count.Kernel(p.kernels, s)
	if err != nil {
		return nil, err
	}
	scan, err := k.scan.Kernel(p.kernels, s)
	if err != nil {
		return nil, err
	}
	scatter, err := k.scatter.Kernel(p.kernels, s)
	if err != nil {
		return nil, err
	}
	return func(pass sortPass) {
		arrays := a.arrays(plan, pass.number)
		count.Dispatch(s, plan.tiles, countPush{
			Keys: arrays.Keys, Counts: plan.counts, Step: pass.step, Tiles: tiles, Length: a.Length.device(),
		})
		scan.Dispatch(s, p.scanGroups(), rowsPush{plan.counts, plan.totals, pass.step, tiles})
		scatter.Dispatch(s, plan.tiles, scatterMultiPush{
			Arrays: arrays, DigitTotals: plan.totals, Counts: plan.counts, Step: pass.step, Tiles: tiles,
			Length: a.Length.device(),
		})
	}, nil
}
