package primitives

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// A pass sorts the elements by a digit of up to 8 bits, all in one word of the key.
const (
	digitBits = 8
	radix     = 1 << digitBits
	maxPasses = 64 / digitBits

	mostUpper = 5 // passes by upper digits before a local sort

	triedWords = 5 * radix // (shaders/primitives/sort_upper.glsl)
)

// tileShape is the layout of a workgroup in the kernels of a sort.
type tileShape struct{ workgroup, subgroups, items int }

func (t tileShape) elements() int { return t.workgroup * t.items }

// shared returns the bytes of shared memory that a tile takes: two rows of words for each subgroup, later replaced by
// the keys; the keys' digits, if values follow; and a word for each digit (shaders/primitives/sort_tile.glsl).
func (t tileShape) shared(subgroup int, pairs bool, w Widths) int {
	digits := 0
	if pairs {
		digits = t.elements() / 4
		if t.items%4 != 0 {
			digits *= 2
		}
	}
	return 4*(max(2*radix*t.workgroup/subgroup, w.Key.Bytes()/4*t.elements())+digits+radix) + 256
}

// cpuTile is the number of elements of a tile on a CPU device: many, because each tile has counts of all digits, and
// few enough that small sorts have a tile for each core (docs/notes/measurements.md).
const cpuTile = 1024

// tunedShape returns the shape that a Tuning chooses for long sorts of 32-bit keys, or zero.
func tunedShape(d *vk.Device, choices vk.Tuning) tileShape {
	t := tileShape{workgroup: choices["sort.workgroup"], items: choices["sort.items"]}
	s := d.SubgroupSize()
	if s == 0 || t.workgroup < s || t.workgroup%s != 0 || t.workgroup < radix && t.workgroup&(t.workgroup-1) != 0 ||
		t.items < 2 || t.items > mostItems || t.items%2 != 0 {
		return tileShape{}
	}
	return t
}

const mostItems = 32

// sortTile returns the shape for n elements that measured best on the H200 (docs/notes/measurements.md). Small sorts
// need many tiles, so that the whole device works. Large sorts need large tiles, so that runs of a digit are longer;
// two tiles still fit on a multiprocessor at once.
func (p *Primitives) sortTile(n int, pairs bool, w Widths) tileShape {
	info, s := p.d.Info(), p.d.SubgroupSize()
	t := tileShape{workgroup: s, items: 32} // on a CPU, subgroups share nothing, and each must clear its own counters
	switch wide := w.Key == structures.Bits64; {
	case p.sorts.items != 0:
		t = p.sorts
	case p.cpuSorts && p.form == MultiPass:
		t.items = cpuTile / s
	case n > 1<<19 && p.tuned.items != 0:
		if t = p.tuned; wide {
			t.items = max(2, t.items*2/3&^1)
		}
	case info.Type == vk.CPU:
	case n <= 1<<18:
		t = tileShape{workgroup: 512, items: 4}
	case n <= 1<<19:
		t = tileShape{workgroup: 512, items: 8}
	case pairs && !wide:
		t = tileShape{workgroup: 512, items: 16}
	case !wide && n <= 1<<23:
		t = tileShape{workgroup: 512, items: 18}
	case !wide:
		t = tileShape{workgroup: 384, items: 26}
	case n <= 1<<20, pairs && n <= 1<<23:
		t = tileShape{workgroup: 384, items: 12}
	case pairs:
		t = tileShape{workgroup: 256, items: 20}
	default:
		t = tileShape{workgroup: 256, items: 16}
	}
	// A tile that is too large for the device is made smaller. Each subgroup has rows of counters, whose memory the
	// elements use later. If a workgroup has fewer invocations than there are digits, their number is a power of two,
	// so that the lanes divide the digits evenly.
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

// sortPlan is the division of a sort's scratch memory.
type sortPlan struct {
	tile   tileShape
	tiles  int
	keys   uint64 // the elements between two passes
	values uint64

	// These are zero at the beginning: the counts of each digit's values, which become places; the number of tiles that
	// have begun each pass; the number of workgroups that have counted.
	counters uint64
	tried    uint64 // also zero at the beginning: for the test of the upper digits
	steps    uint64 // a word for each step: what the step does (shaders/primitives/sort_plan.glsl)

	// single-pass form
	published [2]uint64

	// multi-pass form
	totals uint64
	counts uint64

	bytes uint64
}

// publishes returns the number of words that the tiles of a pass publish.
func (plan sortPlan) publishes() uint32 { return uint32(plan.tiles * radix) }

const (
	sortCounters = maxPasses*radix + maxPasses + mostUpper + 1

	// The index of steps in the plan, in words (shaders/primitives/sort_plan.glsl): first those of all digits, twice,
	// then those of upper digits, then the local sort.
	upperAt   = 2 * maxPasses
	localAt   = upperAt + mostUpper
	planWords = localAt + 1
)

func (p *Primitives) sortPlan(n int, pairs bool, w Widths, scratch uint64) sortPlan {
	s := recording.Parts{Base: scratch}
	plan := sortPlan{tile: p.sortTile(n, pairs, w)}
	plan.tiles = groups(n, plan.tile.elements())
	plan.keys = s.Take(w.Key.Bytes() * n)
	if pairs {
		plan.values = s.Take(w.Value.Bytes() * n)
	}
	plan.counters = s.Take(4 * (sortCounters + triedWords))
	plan.tried = plan.counters + 4*sortCounters
	plan.steps = s.Take(4 * planWords)
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

// taken and ended are counters after those of the digits.
func (plan sortPlan) taken(number int) uint64 {
	return plan.counters + uint64(4*(maxPasses*radix+number))
}
func (plan sortPlan) ended() uint64 { return plan.taken(maxPasses + mostUpper) }

// sortPass is a possible pass: its number in the sequence, the word of its step, and the counter of its tiles.
type sortPass struct {
	number      int
	step, taken uint64
}

// all returns a pass by all digits, and upper a pass before a local sort.
func (plan sortPlan) all(i int) sortPass { return sortPass{i, plan.steps + uint64(4*i), plan.taken(i)} }
func (plan sortPlan) upper(i int) sortPass {
	return sortPass{i, plan.steps + uint64(4*(upperAt+i)), plan.taken(maxPasses + i)}
}
