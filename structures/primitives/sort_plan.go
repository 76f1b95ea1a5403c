package primitives

import (
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// A pass brings the elements into the order of a digit of up to 8 bits, all of them in one word of the key.
const (
	digitBits = 8
	radix     = 1 << digitBits
	maxPasses = 64 / digitBits

	mostUpper = 5 // passes by upper digits before a local sort

	triedWords = 5 * radix // (shaders/primitives/sort_upper.glsl)
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
	tried    uint64 // zero at the beginning, too: what the upper digits are tried by
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

	// Where steps are in the plan, in words (shaders/primitives/sort_plan.glsl): those of all digits, twice, of upper
	// ones, and the local one.
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

// all is one of the passes by all digits, and upper one of those before a local sort.
func (plan sortPlan) all(i int) sortPass { return sortPass{i, plan.steps + uint64(4*i), plan.taken(i)} }
func (plan sortPlan) upper(i int) sortPass {
	return sortPass{i, plan.steps + uint64(4*(upperAt+i)), plan.taken(maxPasses + i)}
}
