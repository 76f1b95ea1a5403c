package shader

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/vk"
	"pgregory.net/rapid"
)

type epochPush struct {
	Pool                   alloc.PoolDescription
	Reclaimer              alloc.ReclaimerDescription
	Epochs, Slabs, Answers uint64
	Count, What            uint32
}

// What shaders/test/epoch.comp can do.
const (
	epochStep = iota
	epochChurn
	epochTakes
)

// The steps.
const (
	epochEnters = iota
	epochRetires
	epochLeaves
	epochLeavesCleared
)

const (
	epochClasses = 5
	epochEnd     = 4294967290
	segmentSlabs = 1 << 15
)

// limbo is a reclaimer's memory as epoch.glsl lays it out, and what it is to be after each step of a subgroup.
type limbo struct {
	stripes, bag int
	number       uint32
	active       []uint32 // a stripe
	counts       [][epochClasses]uint32
	freed        []uint32
	bags         []uint32
	flags, marks []uint32

	pool    marks            // the slabs that are allocated
	readers map[uint32][]int // of a retired slab: the entries that may know it
}

// entered is an epoch that a subgroup is in.
type entered struct {
	number, held, retired uint32
	entry                 int // 0: it is in none
}

func newLimbo(number uint32, stripes, bag int, pool marks, s shape) *limbo {
	return &limbo{stripes: stripes, bag: bag, number: number, active: make([]uint32, stripes),
		counts: make([][epochClasses]uint32, stripes), freed: make([]uint32, stripes),
		bags:  make([]uint32, stripes*epochClasses*bag),
		flags: make([]uint32, (s.slabs()+segmentSlabs-1)/segmentSlabs), marks: make([]uint32, s.slabs()/32),
		pool: pool, readers: map[uint32][]int{}}
}

// words are the memory, but for the marks.
func (l *limbo) words(flags, marks uint64) []uint32 {
	w := make([]uint32, 64, 64+32*l.stripes+len(l.bags))
	w[0] = l.number
	w[32], w[33], w[34], w[35] = uint32(flags), uint32(flags>>32), uint32(marks), uint32(marks>>32)
	for stripe := range l.stripes {
		line := make([]uint32, 32)
		line[0], line[6] = l.active[stripe], l.freed[stripe]
		copy(line[1:], l.counts[stripe][:])
		w = append(w, line...)
	}
	return append(w, l.bags...)
}

func announcement(number uint32) uint32 { return 1 << (number % 2 * 16) }

func (l *limbo) enters(stripe int, g *entered, entry int) {
	*g = entered{l.number, announcement(l.number), 0, entry}
	l.active[stripe] += g.held
}

func (l *limbo) retires(stripe int, g *entered, groups []entered, slabs []uint32) {
	class := int(g.number % epochClasses)
	before := l.counts[stripe][class]
	for _, slab := range slabs {
		if slab == slabNull {
			continue
		}
		for _, other := range groups {
			if other.entry != 0 {
				l.readers[slab] = append(l.readers[slab], other.entry)
			}
		}
		place := int(l.counts[stripe][class])
		l.counts[stripe][class]++
		if place < l.bag {
			l.bags[(stripe*epochClasses+class)*l.bag+place] = slab
			continue
		}
		n := slab>>24<<12 | slab&0xffffff // in super blocks of four memory blocks
		l.flags[n/segmentSlabs] = 1
		l.marks[n/32] |= 1 << (n % 32)
	}
	after, step := l.counts[stripe][class], uint32(max(l.bag/4, 1))
	switch {
	case after/step != before/step:
		g.retired = 2
	case after != before:
		g.retired = max(g.retired, 1)
	}
}

// leaves says what is freed.
func (l *limbo) leaves(stripe int, g *entered) (freed []uint32) {
	if g.retired != 0 {
		class := int((g.number + 2) % epochClasses)
		at := (stripe*epochClasses + class) * l.bag
		freed = slices.Clone(l.bags[at : at+min(int(l.counts[stripe][class]), l.bag)])
		l.counts[stripe][class] = 0
		l.freed[stripe] += uint32(len(freed))
		for _, slab := range freed {
			l.pool.remove(slab)
		}
	}
	if g.retired == 2 && l.number == g.number {
		held := uint32(0)
		for _, active := range l.active {
			held += active / announcement(g.number+1) & 0xffff
		}
		if held == 0 {
			l.number = (l.number + 1) % epochEnd
		}
	}
	l.active[stripe] -= g.held
	*g = entered{number: g.number, retired: g.retired}
	return freed
}

// Subgroups enter epochs, retire slabs and leave, in any order: after each step the reclaimer's memory and the pool are
// what they are to be, and no slab was freed before all had left who were in an epoch when it was retired. Some are.
func TestEpochSteps(t *testing.T) {
	r := newRig(t)
	s := shape{2, 4, 2}
	k := kernel[epochPush](t, r, "test/epoch",
		map[string]uint32{"FUNCTION": epochStep, "POOL_LIGHT": 0, "POOL_SUPER_SHIFT": 2})
	size, freed, kept, advanced := r.d.SubgroupSize(), 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		defer r.release()
		rnd := random(rapid.Uint64().Draw(t, "seed"))
		stripes := rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "stripes")
		bag := rapid.SampledFrom([]int{1, 5, 3 * size}).Draw(t, "bag")
		groups := rapid.IntRange(1, 6).Draw(t, "subgroups")
		number := rapid.SampledFrom([]uint32{0, 1, 7, epochEnd - 3, epochEnd - 1}).Draw(t, "epoch")
		first := number
		p := newHandPool(r, s, 1, s.some(rnd, 0.9))
		l := newLimbo(number, stripes, bag, p.allocated(r), s)
		live := l.pool.list(s)
		rnd.Shuffle(len(live), func(i, j int) { live[i], live[j] = live[j], live[i] })
		flags, marked := put(r, l.flags), put(r, l.marks)
		state := put(r, l.words(flags.Address(), marked.Address()))
		guards := put(r, make([]uint32, 3*(groups+128)))
		slabs := put(r, make([]uint32, size))
		all := make([]entered, groups)
		for step := 1; step <= 70; step++ {
			acts := rnd.IntN(groups)
			g, stripe := &all[acts], acts%stripes
			what, wants := epochEnters, slices.Repeat([]uint32{slabNull}, size)
			var gone []uint32
			switch {
			case g.entry == 0:
				l.enters(stripe, g, step)
			case rnd.IntN(3) != 0:
				what = epochRetires
				for i := range wants {
					if rnd.IntN(3) != 0 {
						wants[i], live = live[0], live[1:]
					}
				}
				require.NoError(t, slabs.Upload(r.t.Context(), 0, wants))
				l.retires(stripe, g, all, wants)
			default:
				what = epochLeaves + rnd.IntN(2)
				entry := g.entry
				gone = l.leaves(stripe, g)
				for _, slab := range gone {
					for _, other := range all {
						require.False(t, other.entry != 0 && slices.Contains(l.readers[slab], other.entry), "held")
					}
					require.NotContains(t, l.readers[slab], entry, "by one who may know it")
				}
			}
			run(r, k, groups*size, epochPush{p.device(), alloc.ReclaimerDescription{State: state.Address(),
				Stripes: uint32(stripes), Bag: uint32(bag)}, guards.Address(), slabs.Address(), 0, uint32(acts),
				uint32(what)})
			requireWords(t, l.words(flags.Address(), marked.Address()), get(r, state), "step %d: %d", step, what)
			requireWords(t, l.flags, get(r, flags), "flags")
			requireWords(t, l.marks, get(r, marked), "marks")
			require.Equal(t, l.pool, p.allocated(r), "step %d", step)
			requireWords(t, []uint32{g.number, g.held, g.retired}, get(r, guards)[3*acts:3*acts+3], "epoch")
			for _, slab := range gone {
				word := get(r, p.units[slab>>24])[(slab&0xffffff)*32+rnd.Uint32N(32)]
				require.Equal(t, ^uint32(0), word)
			}
			freed += len(gone)
		}
		for _, word := range l.marks {
			kept += bits.OnesCount32(word)
		}
		advanced += int(l.number - first)
	})
	require.NotZero(t, freed)
	require.NotZero(t, kept)
	require.NotZero(t, advanced)
}

// A subgroup whose announcement may have been overlooked, because the epoch moved on before it, announces itself in the
// next one as well; and with both announced there is nothing more to do.
func TestEpochMovesMeanwhile(t *testing.T) {
	type push struct {
		Reclaimer alloc.ReclaimerDescription
		Entered   uint64
		Moves     uint32
	}
	r := newRig(t)
	k := kernel[push](t, r, "test/epoch_moving", nil)
	for _, number := range []uint32{0, 1, 7} {
		for moves := range uint32(3) {
			l := newLimbo(number, 1, 1, nil, shape{1, 1, 0})
			state, entered := put(r, l.words(0, 0)), room[uint32](r, 2)
			run(r, k, r.d.SubgroupSize(),
				push{alloc.ReclaimerDescription{State: state.Address(), Stripes: 1, Bag: 1}, entered.Address(), moves})
			l.number, l.active[0] = number+moves, announcement(number)
			if moves > 0 {
				l.active[0] += announcement(number + 1)
			}
			requireWords(t, []uint32{l.number, l.active[0]}, get(r, entered), "%d, %d moves", number, moves)
			requireWords(t, l.words(0, 0), get(r, state), "%d, %d moves", number, moves)
		}
	}
}

// newReclaimed is a pool and its reclaimer, until the test's end.
func newReclaimed(t *testing.T, d *vk.Device, p alloc.PoolOptions, o alloc.ReclaimerOptions) (*alloc.SlabPool,
	*alloc.Reclaimer) {
	pool, err := alloc.NewSlabPool(t.Context(), d, p)
	require.NoError(t, err)
	reclaimer, err := alloc.NewReclaimer(t.Context(), pool, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, reclaimer.Close())
		require.NoError(t, pool.Close())
	})
	return pool, reclaimer
}

// Slabs of cells are replaced while others read them: nobody reads one that has another owner by now or that was
// cleared, and when the dispatch has ended, the pool holds the cells' slabs and no other, and all others are clear.
func TestEpochChurn(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		cells, invocations, rounds int
		pool                       alloc.PoolOptions
		o                          alloc.ReclaimerOptions
		all                        bool // everything has room
	}{
		{1, 200, 40, alloc.PoolOptions{Blocks: 4}, alloc.ReclaimerOptions{Stripes: 1, BagSlabs: 3}, true},
		{300, 1000, 30, alloc.PoolOptions{Blocks: 1}, alloc.ReclaimerOptions{Stripes: 4, BagSlabs: 40}, false},
		{1000, 3000, 30, alloc.PoolOptions{Blocks: 12, SuperShift: 2}, alloc.ReclaimerOptions{BagSlabs: 64}, false},
		{1000, 3000, 20, alloc.PoolOptions{Blocks: 12}, alloc.ReclaimerOptions{}, false},
	} {
		t.Run(fmt.Sprint(c.cells, c.pool, c.o), func(t *testing.T) {
			r := &rig{t: t, d: r.d, s: r.s}
			defer r.release()
			c.o.Clear = true
			pool, reclaimer := newReclaimed(t, r.d, c.pool, c.o)
			constants := pool.Constants()
			constants["FUNCTION"] = epochChurn
			k := kernel[epochPush](t, r, "test/epoch", constants)
			cells, answers := put(r, slices.Repeat([]uint32{slabNull}, c.cells)), put(r, make([]uint32, 3))
			stats := alloc.ReclaimerStats{}
			// A thread without a processor holds the epoch of its subgroup, so that a dispatch or two may free nothing.
			// On a GPU all subgroups may be in their first epoch until they end, always.
			for n := 0; n < 2 || n < 50 && stats.Freed == 0 && r.d.Info().Type == vk.CPU; n++ {
				require.NoError(t, reclaimer.On(r.s, func(p alloc.PoolDescription, d alloc.ReclaimerDescription) error {
					k.Dispatch(r.s, (c.invocations+k.Workgroup()-1)/k.Workgroup(), epochPush{p, d, 0, cells.Address(),
						answers.Address(), uint32(c.cells), uint32(c.rounds)})
					return nil
				}))
				require.NoError(t, r.s.Wait(t.Context()))
				var err error
				stats, err = reclaimer.Stats(t.Context())
				require.NoError(t, err)
			}
			out := get(r, answers)
			t.Logf("%+v, refused %d", stats, out[2])
			require.Zero(t, out[0], "words of slabs that are others' by now")
			require.Equal(t, out[1], stats.Retired())
			require.Zero(t, stats.Stuck)
			if r.d.Info().Type == vk.CPU {
				require.NotZero(t, stats.Freed, "nothing was freed meanwhile")
			}
			if c.all {
				require.Zero(t, out[2])
			}
			held := map[uint32]bool{}
			for _, slab := range get(r, cells) {
				if slab != slabNull {
					require.False(t, held[slab], "the slab %#x is two cells'", slab)
					held[slab] = true
				}
			}
			is, err := pool.Stats(t.Context())
			require.NoError(t, err)
			require.Equal(t, len(held), is.Allocated)
			requireFreeIsClear(t, r, pool, held, is)
		})
	}
}

// requireFreeIsClear allocates all that is free, and looks whether these are the slabs that nobody has, and clear.
func requireFreeIsClear(t *testing.T, r *rig, pool *alloc.SlabPool, held map[uint32]bool, is alloc.PoolStats) {
	constants := pool.Constants()
	constants["FUNCTION"] = epochTakes
	k := kernel[epochPush](t, r, "test/epoch", constants)
	n := is.Free
	slabs, wrong := room[uint32](r, n), put(r, make([]uint32, 3))
	run(r, k, n, epochPush{Pool: pool.Description(), Slabs: slabs.Address(), Answers: wrong.Address(),
		Count: uint32(n)})
	require.Zero(t, get(r, wrong)[0], "words that are not clear")
	for _, slab := range get(r, slabs) {
		require.NotEqual(t, slabNull, slab)
		require.False(t, held[slab], "%#x", slab)
		held[slab] = true
	}
}
