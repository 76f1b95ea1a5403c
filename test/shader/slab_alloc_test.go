package shader

import (
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/vk"
	"pgregory.net/rapid"
)

type allocPush struct {
	Pool                  alloc.PoolDescription
	Wants, Slabs, Answers uint64
	Count, Rounds         uint32
}

// What shaders/test/slab_alloc.comp can do.
const (
	allocAllocate = iota
	allocFree
	allocAddress
	allocChurn
)

const slabNull = ^uint32(0)

// shape is how a pool is divided: super blocks of memory blocks. All but a lone one have 2^shift.
type shape struct {
	supers, blocks, shift int
}

func (s shape) String() string { return fmt.Sprintf("%dx%d blocks", s.supers, s.blocks) }
func (s shape) slabs() int     { return s.supers * s.blocks * 1024 }

var shapes = []shape{{1, 1, 13}, {1, 3, 13}, {1, 12, 13}, {2, 4, 2}, {5, 4, 2}}

// constants are those of the variants that a pool of the shape may be used with: a lone super block may also be looked
// up in the table.
func (s shape) constants() []map[string]uint32 {
	all := []map[string]uint32{{"POOL_LIGHT": 0, "POOL_SUPER_SHIFT": uint32(s.shift)}}
	if s.supers == 1 {
		all = append(all, map[string]uint32{"POOL_LIGHT": 1, "POOL_SUPER_SHIFT": uint32(s.shift)})
	}
	return all
}

// marks is a set of slabs: the bitmaps of each super block.
type marks [][]uint32

func (s shape) marks() marks {
	m := make(marks, s.supers)
	for i := range m {
		m[i] = make([]uint32, 32*s.blocks)
	}
	return m
}

func (m marks) word(slab uint32) *uint32 { return &m[slab>>24][slab>>5&0x7ffff] }
func (m marks) has(slab uint32) bool     { return *m.word(slab)>>(slab&31)&1 == 1 }
func (m marks) put(slab uint32)          { *m.word(slab) |= 1 << (slab & 31) }
func (m marks) remove(slab uint32)       { *m.word(slab) &^= 1 << (slab & 31) }
func (m marks) list(s shape) (all []uint32) {
	for _, slab := range s.everySlab() {
		if m.has(slab) {
			all = append(all, slab)
		}
	}
	return all
}

func (m marks) count() (n int) {
	for _, words := range m {
		for _, word := range words {
			n += bits.OnesCount32(word)
		}
	}
	return n
}

func (m marks) clone() marks {
	c := make(marks, len(m))
	for i := range m {
		c[i] = slices.Clone(m[i])
	}
	return c
}

// some is a random part of a pool's slabs.
func (s shape) some(rnd *rand.Rand, part float64) marks {
	m := s.marks()
	for _, slab := range s.everySlab() {
		if rnd.Float64() < part {
			m.put(slab)
		}
	}
	return m
}

// handPool is a pool made by hand, after the layout that slab_alloc.glsl states.
type handPool struct {
	shape
	table   *vk.Buffer[uint32]
	units   []*vk.Buffer[uint32]
	bitmaps []*vk.Buffer[uint32]
	seed    uint32
}

// newHandPool makes a pool in which these slabs are allocated, and all words of all slabs ~0.
func newHandPool(r *rig, s shape, seed uint32, allocated marks) *handPool {
	p := &handPool{shape: s, seed: seed}
	table := make([]uint32, 16)
	for super := range s.supers {
		units, bitmaps := room[uint32](r, s.blocks*1024*32), put(r, allocated[super])
		p.units, p.bitmaps = append(p.units, units), append(p.bitmaps, bitmaps)
		for _, address := range []uint64{units.Address(), bitmaps.Address()} {
			table = append(table, uint32(address), uint32(address>>32))
		}
	}
	p.table = put(r, table)
	return p
}

func (p *handPool) device() alloc.PoolDescription {
	return alloc.PoolDescription{Table: p.table.Address(), Units: p.units[0].Address(),
		Blocks: uint32(p.supers * p.blocks),
		Seed:   p.seed}
}

// allocated reads the bitmaps.
func (p *handPool) allocated(r *rig) marks {
	m := make(marks, p.supers)
	for super, b := range p.bitmaps {
		m[super] = get(r, b)
	}
	return m
}

// everySlab lists the references of a pool's slabs.
func (s shape) everySlab() []uint32 {
	var all []uint32
	for super := range s.supers {
		for n := range s.blocks * 1024 {
			all = append(all, uint32(super<<24|n))
		}
	}
	return all
}

func eachShape(t *testing.T, test func(t *testing.T, r *rig, s shape, constants map[string]uint32)) {
	r := newRig(t)
	for _, s := range shapes {
		for _, c := range s.constants() {
			t.Run(fmt.Sprintf("%v, light %d", s, c["POOL_LIGHT"]), func(t *testing.T) {
				test(t, &rig{t: t, d: r.d, s: r.s}, s, c)
			})
		}
	}
}

func with(constants map[string]uint32, name string, value uint32) map[string]uint32 {
	c := maps.Clone(constants)
	c[name] = value
	return c
}

// From any filling: every lane that wants a slab gets one as long as there are any, all different and all from those
// that were free, the bitmaps say so, and the rest are refused.
func TestSlabAllocate(t *testing.T) {
	eachShape(t, func(t *testing.T, r *rig, s shape, constants map[string]uint32) {
		k := kernel[allocPush](t, r, "test/slab_alloc", with(constants, "FUNCTION", allocAllocate))
		rapid.Check(t, func(t *rapid.T) {
			defer r.release()
			rnd := random(rapid.Uint64().Draw(t, "seed"))
			filled := rapid.SampledFrom([]float64{0, 0.3, 0.9, 0.99, 0.999, 1}).Draw(t, "filled")
			n := rapid.IntRange(1, 3000).Draw(t, "invocations")
			rounds := rapid.IntRange(1, 4).Draw(t, "rounds")
			asking := rapid.SampledFrom([]float64{0.02, 0.5, 1}).Draw(t, "asking")
			before := s.some(rnd, filled)
			p := newHandPool(r, s, rnd.Uint32(), before)
			wants, wanted := make([]uint32, n), 0
			for i := range wants {
				for round := range rounds {
					if rnd.Float64() < asking {
						wants[i] |= 1 << round
						wanted++
					}
				}
			}
			slabs := put(r, make([]uint32, n*rounds))
			run(r, k, n, allocPush{p.device(), put(r, wants).Address(), slabs.Address(), 0, uint32(n), uint32(rounds)})

			after := before.clone()
			for j, slab := range get(r, slabs) {
				if wants[j%n]>>(j/n)&1 == 0 {
					require.Equal(t, slabNull, slab, "who wants none gets none")
				} else if slab != slabNull {
					require.False(t, after.has(slab), "slab %#x was in use", slab)
					after.put(slab)
				}
			}
			require.Equal(t, after, p.allocated(r))
			free := s.slabs() - before.count()
			given := after.count() - before.count()
			require.Equal(t, min(wanted, free), given)
			counters := get(r, p.table)
			require.EqualValues(t, wanted-given, counters[1], "failures")
			if given < wanted {
				require.NotZero(t, counters[0], "resident changes")
			}
		})
	})
}

// The one free slab of a pool is found wherever it is and wherever the search begins.
func TestSlabAllocateTheLast(t *testing.T) {
	r := newRig(t)
	k := kernel[allocPush](t, r, "test/slab_alloc", map[string]uint32{"FUNCTION": allocAllocate})
	p := newHandPool(r, shape{1, 64, 13}, 0, shape{1, 64, 13}.marks())
	wants := put(r, []uint32{1})
	slabs := put(r, []uint32{0})
	words := slices.Repeat([]uint32{^uint32(0)}, p.bitmaps[0].Len())
	rnd := random(8)
	for range 500 {
		last := rnd.Uint32N(64 * 1024)
		p.seed = rnd.Uint32()
		words[last/32] &^= 1 << (last % 32)
		require.NoError(t, p.bitmaps[0].Upload(t.Context(), 0, words))
		words[last/32] = ^uint32(0)
		run(r, k, 1, allocPush{p.device(), wants.Address(), slabs.Address(), 0, 1, 1})
		require.Equal(t, last, get(r, slabs)[0])
		require.Equal(t, words, get(r, p.bitmaps[0]))
	}
}

// The pool of no memory blocks has nothing to give, and says so.
func TestSlabAllocateFromNothing(t *testing.T) {
	r := newRig(t)
	k := kernel[allocPush](t, r, "test/slab_alloc", map[string]uint32{"FUNCTION": allocAllocate})
	p := newHandPool(r, shape{1, 1, 13}, 1, shape{1, 1, 13}.marks())
	device := p.device()
	device.Blocks = 0
	slabs := put(r, make([]uint32, 100))
	run(r, k, 100, allocPush{device, put(r, slices.Repeat([]uint32{1}, 100)).Address(), slabs.Address(), 0, 100, 1})
	require.Equal(t, slices.Repeat([]uint32{slabNull}, 100), get(r, slabs))
	require.Zero(t, p.allocated(r).count())
}

// In a full pool of more memory blocks than are looked at, an allocation ends all the same.
func TestSlabAllocateGivesUp(t *testing.T) {
	r := newRig(t)
	k := kernel[allocPush](t, r, "test/slab_alloc", map[string]uint32{"FUNCTION": allocAllocate})
	s := shape{1, 500, 13}
	p := newHandPool(r, s, 1, s.some(random(1), 1))
	const n = 1000
	slabs := put(r, make([]uint32, n))
	run(r, k, n, allocPush{p.device(), put(r, slices.Repeat([]uint32{1}, n)).Address(), slabs.Address(), 0, n, 1})
	require.Equal(t, slices.Repeat([]uint32{slabNull}, n), get(r, slabs))
	counters := get(r, p.table)
	subgroups := (n + r.d.SubgroupSize() - 1) / r.d.SubgroupSize()
	require.EqualValues(t, 96*subgroups, counters[0], "96 memory blocks a subgroup")
	require.EqualValues(t, n, counters[1])
}

// Slabs are freed in any order and mixture over the bitmaps' words, and nothing else is.
func TestSlabFree(t *testing.T) {
	eachShape(t, func(t *testing.T, r *rig, s shape, constants map[string]uint32) {
		k := kernel[allocPush](t, r, "test/slab_alloc", with(constants, "FUNCTION", allocFree))
		rapid.Check(t, func(t *rapid.T) {
			defer r.release()
			rnd := random(rapid.Uint64().Draw(t, "seed"))
			rounds := rapid.IntRange(1, 3).Draw(t, "rounds")
			part := rapid.SampledFrom([]float64{0.01, 0.3, 1}).Draw(t, "part")
			before := s.some(rnd, 0.7)
			after := before.clone()
			var order []uint32
			for _, slab := range before.list(s) {
				if rnd.Float64() < part {
					order = append(order, slab)
					after.remove(slab)
				}
			}
			if rapid.Bool().Draw(t, "shuffled") {
				rnd.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			}
			// Lanes that free nothing stand between the others; what they hold must not matter.
			var slabs []uint32
			var frees []bool
			for _, slab := range order {
				for rnd.IntN(3) == 0 {
					slabs, frees = append(slabs, rnd.Uint32()), append(frees, false)
				}
				slabs, frees = append(slabs, slab), append(frees, true)
			}
			n := (len(slabs) + rounds - 1) / rounds
			if n == 0 {
				return
			}
			wants := make([]uint32, n)
			for j, free := range frees {
				if free {
					wants[j%n] |= 1 << (j / n)
				}
			}
			slabs = append(slabs, make([]uint32, n*rounds-len(slabs))...)
			p := newHandPool(r, s, rnd.Uint32(), before)
			run(r, k, n, allocPush{p.device(), put(r, wants).Address(), put(r, slabs).Address(), 0, uint32(n),
				uint32(rounds)})
			require.Equal(t, after, p.allocated(r))
		})
	})
}

func TestSlabAddress(t *testing.T) {
	eachShape(t, func(t *testing.T, r *rig, s shape, constants map[string]uint32) {
		defer r.release()
		k := kernel[allocPush](t, r, "test/slab_alloc", with(constants, "FUNCTION", allocAddress))
		p := newHandPool(r, s, 0, s.marks())
		slabs := s.everySlab()
		answers := room[uint64](r, len(slabs))
		run(r, k, len(slabs), allocPush{
			p.device(), put(r, make([]uint32, len(slabs))).Address(), put(r, slabs).Address(), answers.Address(),
			uint32(len(slabs)), 1,
		})
		for i, address := range get(r, answers) {
			require.Equal(t, p.units[slabs[i]>>24].Address()+uint64(slabs[i]&0xffffff)*128, address, "slab %#x",
				slabs[i])
		}
	})
}

// Allocations and frees at the same time: no slab has two owners at any time, none is lost, and all come back.
func TestSlabChurn(t *testing.T) {
	eachShape(t, func(t *testing.T, r *rig, s shape, constants map[string]uint32) {
		k := kernel[allocPush](t, r, "test/slab_alloc", with(constants, "FUNCTION", allocChurn))
		for _, n := range []int{64, 1500, 6000} {
			rnd := random(uint64(n))
			held := s.some(rnd, 0.5) // by nobody in this dispatch
			p := newHandPool(r, s, rnd.Uint32(), held)
			wants := make([]uint32, n)
			for i := range wants {
				wants[i] = rnd.Uint32()
			}
			answers := put(r, make([]uint32, 2))
			run(r, k, n, allocPush{p.device(), put(r, wants).Address(), 0, answers.Address(), uint32(n), 40})
			out := get(r, answers)
			require.Zero(t, out[0], "violations")
			if n < s.slabs()/4 {
				require.Zero(t, out[1], "refused, with half of the slabs free")
			}
			require.Equal(t, get(r, p.table)[1], out[1], "failures counted")
			require.Equal(t, held, p.allocated(r))
			for _, units := range p.units {
				for i, word := range get(r, units) {
					if word != ^uint32(0) {
						require.Failf(t, "contents", "word %d is %#x", i, word)
					}
				}
			}
			r.release()
		}
	})
}
