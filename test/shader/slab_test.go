package shader

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk"
	"pgregory.net/rapid"
)

const (
	slabEmpty     = ^uint32(0)
	slabTombstone = uint32(0)
	auxWord       = 30
	nextWord      = 31
)

// slab is the 32 words of one; keys says what kind it is of.
type slab [32]uint32

// slots is the number of slots, and slotWords the words of each.
func slots(keys bool) int { return map[bool]int{false: 15, true: 30}[keys] }

func slotWords(keys bool) int { return map[bool]int{false: 2, true: 1}[keys] }

func (s *slab) key(keys bool, slot int) uint32 { return s[slot*slotWords(keys)] }

func (s *slab) value(keys bool, slot int) uint32 {
	if keys {
		return 0
	}
	return s[2*slot+1]
}

// someKeys is few enough for keys to meet.
var someKeys = []uint32{1, 2, 3, 1 << 31, slabEmpty - 1}

func someKey(rnd *rand.Rand) uint32 { return someKeys[rnd.IntN(len(someKeys))] }

// aSlab is a slab in any state: slots in use, erased and free in any order, though real ones are free at the end.
func aSlab(rnd *rand.Rand, keys bool) (s slab) {
	for i := range s {
		s[i] = slabEmpty
	}
	used, erased := rnd.Float64(), rnd.Float64()
	for slot := range slots(keys) {
		at := slot * slotWords(keys)
		if rnd.Float64() >= used {
			continue
		}
		s[at] = someKey(rnd)
		if rnd.Float64() < erased {
			s[at] = slabTombstone
		}
		if !keys {
			s[at+1] = interesting(rnd)
		}
	}
	// Words that look like keys, empty or erased slots, and are none.
	s[auxWord] = []uint32{slabEmpty, slabTombstone, someKey(rnd), rnd.Uint32()}[rnd.IntN(4)]
	s[nextWord] = []uint32{slabEmpty, slabTombstone, someKey(rnd), rnd.Uint32()}[rnd.IntN(4)]
	return s
}

func flat(slabs []slab) []uint32 {
	words := make([]uint32, 0, 32*len(slabs))
	for i := range slabs {
		words = append(words, slabs[i][:]...)
	}
	return words
}

func unflat(words []uint32) []slab {
	slabs := make([]slab, len(words)/32)
	for i := range slabs {
		slabs[i] = slab(words[32*i:])
	}
	return slabs
}

type viewPush struct {
	Slabs, Keys, Views, Slots, Dense uint64
	Count                            uint32
}

// What a tile finds in a slab: the first slot of a key, how many there are, the next slab, which slots are live, and
// their order.
func TestSlabView(t *testing.T) {
	for _, keys := range []bool{false, true} {
		module := map[bool]string{false: "test/slab_view.map", true: "test/slab_view.set"}[keys]
		t.Run(module, func(t *testing.T) {
			r := newRig(t)
			r.eachWidth(func(t *testing.T, width int) {
				k := kernel[viewPush](t, r, module, map[string]uint32{"TILE": uint32(width)})
				rapid.Check(t, func(t *rapid.T) {
					defer r.release()
					checkView(t, r, k, keys, width, random(rapid.Uint64().Draw(t, "seed")))
				})
			})
		})
	}
}

func checkView(t *rapid.T, r *rig, k *vk.Kernel[viewPush], keys bool, width int, rnd *rand.Rand) {
	const n = 24
	slabs, wanted := make([]slab, n), make([]uint32, 2*n)
	for i := range slabs {
		slabs[i] = aSlab(rnd, keys)
	}
	for i := range wanted {
		wanted[i] = []uint32{someKey(rnd), someKey(rnd), slabEmpty, slabTombstone, 99}[rnd.IntN(5)]
	}
	views, places, dense := room[uint32](r, 8*n*width), put(r, make([]uint32, 4*32*n*width)), room[uint32](r, 2*32*n)
	run(r, k, n*width, viewPush{
		put(r, flat(slabs)).Address(), put(r, wanted).Address(), views.Address(), places.Address(), dense.Address(), n,
	})
	gotViews, gotPlaces, gotDense := get(r, views), get(r, places), get(r, dense)
	for i := range slabs {
		s := &slabs[i]
		find := func(key uint32) (slot, value, times uint32) {
			slot, value = slabEmpty, 0
			for at := slots(keys) - 1; at >= 0; at-- {
				if s.key(keys, at) == key {
					slot, value, times = uint32(at), s.value(keys, at), times+1
				}
			}
			return slot, value, times
		}
		slot, value, times := find(wanted[2*i])
		hit, hitKey := slot, wanted[2*i] // of the search for two keys
		if other, _, _ := find(wanted[2*i+1]); other < slot {
			hit, hitKey = other, wanted[2*i+1]
		}
		_, hitValue, _ := find(hitKey)
		empty, _, _ := find(slabEmpty)
		var live []uint32
		for at := range slots(keys) {
			if key := s.key(keys, at); key != slabEmpty && key != slabTombstone {
				live = append(live, key, s.value(keys, at))
			}
		}
		seen := make([]int, slots(keys))
		for lane := range width {
			view := gotViews[8*(i*width+lane):][:8]
			if slot == slabEmpty {
				view[1] = 0 // the value of what is not found means nothing
			}
			if hit == slabEmpty {
				view[5], view[6] = hitKey, 0
			}
			requireWords(t, []uint32{slot, value, times, s[nextWord], hit, hitKey, hitValue, empty}, view,
				"slab %v, keys %d, lane %d", s, wanted[2*i:2*i+2], lane)
			for m := range 32 {
				place := gotPlaces[4*(32*(i*width+lane)+m):][:4]
				if place[0] == 0 {
					continue
				}
				at := int(place[0] - 1)
				seen[at]++
				key, alive := s.key(keys, at), uint32(1)
				if key == slabEmpty || key == slabTombstone {
					alive = 0
				}
				requireWords(t, []uint32{key, s.value(keys, at), alive}, place[1:], "slab %v, slot %d", s, at)
			}
		}
		require.Equal(t, slices.Repeat([]int{1}, slots(keys)), seen, "each slot is one lane's")
		row := gotDense[2*32*i:][:2*32]
		requireWords(t, live, row[:len(live)], "slab %v", s)
		requireWords(t, slices.Repeat([]uint32{slabEmpty}, len(row)-len(live)), row[len(live):],
			"beyond the live slots of %v", s)
	}
}

type changePush struct {
	Slabs, Changes, Answers uint64
	Count                   uint32
}

// What shaders/test/slab_change.comp can do.
const (
	changeInsert = iota
	changeErase
	changeValue
	changeAssign
	changeAdd
	changeMin
	changeMax
	changeLink
	changedInsert // by slab_change
	changedAssign
	changedErase
	changes
)

type change struct {
	what             uint32
	slab, slot       int
	key, seen, value uint32
	target           uint32
}

// variant is one of the three kinds of slabs and protocols.
type variant struct {
	name string
	keys bool
	wide bool // pairs as one 64-bit atomic
}

func eachVariant(t *testing.T, test func(t *testing.T, r *rig, v variant, k *vk.Kernel[changePush])) {
	eachProtocol(t, func(t *testing.T, r *rig, wide bool) {
		variants := []variant{{"map32", false, false}, {"set", true, false}}
		if wide {
			variants = []variant{{"map64", false, true}}
		}
		for _, v := range variants {
			t.Run(v.name, func(t *testing.T) {
				r := &rig{t: t, d: r.d, s: r.s}
				test(t, r, v, kernel[changePush](t, r, "test/slab_change."+v.name, nil))
			})
		}
	})
}

// change runs the changes, all at once, and returns their answers and the slabs then.
func runChanges(r *rig, k *vk.Kernel[changePush], slabs []slab, list []change) (answers []pair, after []slab) {
	words := make([]uint32, 0, 8*len(list))
	for _, c := range list {
		words = append(words, c.what, uint32(c.slab), uint32(c.slot), c.key, c.seen, c.value, c.target, 0)
	}
	out, at := room[uint32](r, 2*len(list)), put(r, flat(slabs))
	run(r, k, len(list), changePush{at.Address(), put(r, words).Address(), out.Address(), uint32(len(list))})
	got := get(r, out)
	for i := range list {
		answers = append(answers, pair{got[2*i], got[2*i+1]})
	}
	return answers, unflat(get(r, at))
}

// apply is the model of a change that nobody else disturbs. What was seen of the slot before may be old.
func (c change) apply(s *slab, v variant) (done bool, value uint32) {
	at := c.slot * slotWords(v.keys)
	there := s[at] == c.key
	switch {
	case c.what == changeInsert || c.what == changedInsert:
		return c.insert(s, v), c.seen
	case !v.keys && !v.wide && s[auxWord]>>c.slot&1 == 1:
		return false, c.seen // an unsettled slot's turn comes later
	case c.what == changeErase || c.what == changedErase:
		if there {
			s[at] = slabTombstone
		}
		return there, c.seen
	case c.what == changedAssign && v.wide && !there:
		return false, c.seen
	case v.keys:
		return true, c.seen // without values there is nothing to do
	}
	// What is done to the value is done also where the key was erased meanwhile: then it came before that.
	switch stored := &s[at+1]; c.what {
	case changeValue:
		if v.wide && c.seen != slabEmpty {
			return true, c.seen // what was seen was right when it was seen
		}
		return there || !v.wide, *stored
	case changeAssign, changedAssign:
		*stored = c.value
	case changeAdd:
		*stored += c.value
	case changeMin:
		if !v.wide || c.value < c.seen {
			*stored = min(*stored, c.value)
		}
	case changeMax:
		if !v.wide || c.value > c.seen || c.seen == slabEmpty {
			*stored = max(*stored, c.value)
		}
	}
	return true, c.seen
}

// insert takes the first free slot, unless what it looks for stands before that.
func (c change) insert(s *slab, v variant) bool {
	for slot := c.slot; slot < slots(v.keys); slot++ {
		switch at := slot * slotWords(v.keys); s[at] {
		case slabEmpty:
			s[at] = c.key
			if !v.keys {
				s[at+1] = c.value
			}
			if !v.keys && !v.wide {
				s[auxWord] &^= 1 << slot
			}
			return true
		case c.target:
			return false
		}
	}
	return false
}

// Every function on every state of a slot, each invocation on a slab of its own.
func TestSlabChange(t *testing.T) {
	eachVariant(t, func(t *testing.T, r *rig, v variant, k *vk.Kernel[changePush]) {
		rapid.Check(t, func(t *rapid.T) {
			defer r.release()
			const n = 600
			rnd := random(rapid.Uint64().Draw(t, "seed"))
			slabs, list := make([]slab, n), make([]change, n)
			for i := range list {
				slabs[i] = aSlab(rnd, v.keys)
				c := change{
					what: uint32(rnd.IntN(changes)), slab: i, slot: rnd.IntN(slots(v.keys)),
					key: someKey(rnd), seen: interesting(rnd), value: interesting(rnd),
				}
				c.target = []uint32{slabEmpty, c.key}[rnd.IntN(2)]
				at := c.slot * slotWords(v.keys)
				switch {
				case c.what == changeLink:
				case c.what == changeInsert || c.what == changedInsert:
					if rnd.IntN(2) == 0 {
						slabs[i][at] = slabEmpty
						if !v.keys {
							slabs[i][at+1] = slabEmpty
						}
					}
				default: // the key was seen in the slot, and may have been erased since
					slabs[i][at] = []uint32{c.key, c.key, slabTombstone}[rnd.IntN(3)]
					if !v.keys && rnd.IntN(2) == 0 {
						c.seen = slabs[i][at+1]
					}
				}
				list[i] = c
			}
			answers, after := runChanges(r, k, slabs, list)
			for i, c := range list {
				s := slabs[i]
				what := fmt.Sprintf("%+v on %v", c, s)
				if c.what == changeLink {
					if s[nextWord] == slabEmpty {
						s[nextWord] = c.value
					}
					require.Equal(t, s[nextWord], answers[i][0], what)
				} else {
					done, value := c.apply(&s, v)
					require.Equal(t, done, answers[i][0] == 1, what)
					if done && !v.keys {
						require.Equal(t, value, answers[i][1], what)
					}
				}
				require.Equal(t, s, after[i], what)
			}
		})
	})
}

// All invocations on one slot.
func TestSlabChangeTogether(t *testing.T) {
	eachVariant(t, func(t *testing.T, r *rig, v variant, k *vk.Kernel[changePush]) {
		const n = 2048
		rnd := random(7)
		fresh := slab(slices.Repeat([]uint32{slabEmpty}, 32))
		taken := fresh // with the key 5 and the value 1000 in slot 3
		first := change{what: changeInsert, slot: 3, key: 5, value: 1000}
		_, _ = first.apply(&taken, v)
		at := 3 * slotWords(v.keys)
		together := func(s slab, of func(i int) change) (answers []pair, after slab) {
			defer r.release()
			list := make([]change, n)
			for i := range list {
				list[i] = of(i)
				list[i].slot = 3
			}
			answers, slabs := runChanges(r, k, []slab{s}, list)
			return answers, slabs[0]
		}
		winners := func(answers []pair) (who []int) {
			for i, a := range answers {
				if a[0] == 1 {
					who = append(who, i)
				}
			}
			return who
		}
		// elsewhere looks whether only the slot and, of the 32-bit protocol, its bit have changed.
		elsewhere := func(before, after slab) {
			t.Helper()
			after[at] = before[at]
			if !v.keys {
				after[at+1] = before[at+1]
			}
			if !v.keys && !v.wide {
				after[auxWord] |= before[auxWord] & (1 << 3)
			}
			require.Equal(t, before, after)
		}

		answers, after := together(fresh, func(i int) change {
			return change{what: changeInsert, key: 8, value: uint32(i * 7), target: 8}
		})
		who := winners(answers)
		require.Len(t, who, 1, "one insertion of a key takes a slot")
		require.EqualValues(t, 8, after[at])
		if !v.keys {
			require.EqualValues(t, who[0]*7, after[at+1])
		}
		elsewhere(fresh, after)

		answers, after = together(fresh, func(i int) change {
			return change{what: changeInsert, key: uint32(i + 1), value: uint32(i * 7), target: slabEmpty}
		})
		who = winners(answers)
		require.Len(t, who, slots(v.keys)-3, "an insertion a slot, from the third on")
		want := fresh
		for slot := 3; slot < slots(v.keys); slot++ {
			i := int(after.key(v.keys, slot)) - 1
			require.Contains(t, who, i)
			_ = change{what: changeInsert, slot: 3, key: uint32(i + 1), value: uint32(i * 7),
				target: slabEmpty}.insert(&want, v)
		}
		require.Equal(t, want, after)

		answers, after = together(taken, func(int) change { return change{what: changeErase, key: 5} })
		require.Len(t, winners(answers), 1, "one erasure hits")
		require.Equal(t, slabTombstone, after[at])
		elsewhere(taken, after)

		answers, after = together(fresh, func(i int) change { return change{what: changeLink, value: uint32(i + 1)} })
		for _, a := range answers {
			require.Equal(t, after[nextWord], a[0], "all go on in the slab that was linked")
		}
		require.NotEqual(t, slabEmpty, after[nextWord])

		if v.keys {
			return
		}
		values := make([]uint32, n)
		for i := range values {
			values[i] = rnd.Uint32N(1<<31) + 1
		}
		answers, after = together(taken, func(i int) change {
			return change{what: changeAdd, key: 5, value: values[i]}
		})
		require.Len(t, winners(answers), n)
		sum := uint32(1000)
		for _, value := range values {
			sum += value
		}
		require.Equal(t, sum, after[at+1])
		elsewhere(taken, after)

		for _, seen := range []uint32{1000, slabEmpty, 17} {
			answers, after = together(taken, func(i int) change {
				return change{what: changeAssign, key: 5, seen: seen, value: values[i]}
			})
			require.Len(t, winners(answers), n, "no assignment has to come again")
			require.Contains(t, values, after[at+1])
			elsewhere(taken, after)
		}

		// Where a pair is no one atomic, who is overtaken comes again.
		done := func(answers []pair) (of []uint32) {
			t.Helper()
			for _, i := range winners(answers) {
				of = append(of, values[i])
			}
			require.NotEmpty(t, of)
			require.True(t, !v.wide || len(of) == n)
			return of
		}
		low, high := taken, taken
		low[at+1], high[at+1] = 0, slabEmpty-1
		answers, after = together(high, func(i int) change {
			return change{what: changeMin, key: 5, seen: slabEmpty - 1, value: values[i]}
		})
		require.Equal(t, slices.Min(done(answers)), after[at+1])
		elsewhere(high, after)
		answers, after = together(low, func(i int) change {
			return change{what: changeMax, key: 5, seen: 0, value: values[i]}
		})
		require.Equal(t, slices.Max(done(answers)), after[at+1])
		elsewhere(low, after)

		// None of these is lost among others that change nothing.
		for range 20 {
			_, after = together(taken, func(i int) change {
				return []change{{what: changeAdd, key: 5, value: 1},
					{what: changeMin, key: 5, seen: slabEmpty, value: slabEmpty - 1}}[i%2]
			})
			require.EqualValues(t, 1000+n/2, after[at+1])
		}
	})
}
