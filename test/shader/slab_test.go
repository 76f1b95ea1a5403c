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
	slabTombstone = 0
	auxWord       = 30
	nextWord      = 31
)

// slab is the 32 words of one.
type slab [32]uint32

// form is what a slab has in its slots.
type form struct{ keys, long bool } // no values, 64 bits

var forms = map[string]form{
	"k32v32": {false, false}, "k32": {true, false}, "k64v64": {false, true}, "k64": {true, true},
}

// words are those of a number, and slotWords those of a slot.
func (f form) words() int {
	if f.long {
		return 2
	}
	return 1
}

func (f form) slotWords() int {
	if f.keys {
		return f.words()
	}
	return 2 * f.words()
}

func (f form) slots() int { return auxWord / f.slotWords() }

// empty is the key of a free slot, and a fresh slot's value.
func (f form) empty() uint64 { return ^uint64(0) >> (64 - 32*f.words()) }

// number returns the number at a word of a slab, and put puts one there.
func (f form) number(s *slab, at int) uint64 {
	if f.long {
		return uint64(s[at]) | uint64(s[at+1])<<32
	}
	return uint64(s[at])
}

func (f form) put(s *slab, at int, n uint64) {
	s[at] = uint32(n)
	if f.long {
		s[at+1] = uint32(n >> 32)
	}
}

func (f form) key(s *slab, slot int) uint64 { return f.number(s, slot*f.slotWords()) }

func (f form) setKey(s *slab, slot int, key uint64) { f.put(s, slot*f.slotWords(), key) }

func (f form) value(s *slab, slot int) uint64 {
	if f.keys {
		return 0
	}
	return f.number(s, slot*f.slotWords()+f.words())
}

func (f form) setValue(s *slab, slot int, value uint64) {
	if !f.keys {
		f.put(s, slot*f.slotWords()+f.words(), value)
	}
}

// live says whether a slot has a key.
func (f form) live(s *slab, slot int) bool {
	key := f.key(s, slot)
	return key != slabTombstone && key != f.empty()
}

// flat are numbers as words.
func (f form) flat(numbers ...uint64) (words []uint32) {
	for _, n := range numbers {
		if words = append(words, uint32(n)); f.long {
			words = append(words, uint32(n>>32))
		}
	}
	return words
}

func (f form) unflat(words []uint32) (numbers []uint64) {
	for ; len(words) != 0; words = words[f.words():] {
		n := uint64(words[0])
		if f.long {
			n |= uint64(words[1]) << 32
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// someKey is one of few enough for keys to meet. Those of 64 bits have words that are all ones or zeros, or another's.
func (f form) someKey(rnd *rand.Rand) uint64 {
	keys := []uint64{1, 2, 3, 1 << 31, 1<<32 - 2}
	if f.long {
		keys = []uint64{1, 1 << 32, 1<<32 + 1, 1<<32 - 1, 0xffffffff00000000, 1 << 63, ^uint64(1)}
	}
	return keys[rnd.IntN(len(keys))]
}

// interesting is a number at the edges half of the time, of 64 bits each word by itself.
func (f form) interesting(rnd *rand.Rand) uint64 {
	n := uint64(interesting(rnd))
	if f.long {
		n |= uint64(interesting(rnd)) << 32
	}
	return n
}

// aSlab is a slab in any state: slots in use, erased and free in any order, though real ones are free at the end.
func (f form) aSlab(rnd *rand.Rand) (s slab) {
	for i := range s {
		s[i] = slabEmpty
	}
	used, erased := rnd.Float64(), rnd.Float64()
	for slot := range f.slots() {
		if rnd.Float64() >= used {
			continue
		}
		f.setKey(&s, slot, f.someKey(rnd))
		if rnd.Float64() < erased {
			f.setKey(&s, slot, slabTombstone)
		}
		f.setValue(&s, slot, f.interesting(rnd))
	}
	// Words that look like keys, empty or erased slots, and are none.
	for at := f.slots() * f.slotWords(); at < len(s); at++ {
		s[at] = []uint32{slabEmpty, slabTombstone, uint32(f.someKey(rnd)), rnd.Uint32()}[rnd.IntN(4)]
	}
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

type geometryPush struct{ Numbers, Slab uint64 }

// The geometry of slabs is that of the tests, and slots lie where these expect them. That of the host is compared in
// structures/slabhash.
func TestSlabGeometry(t *testing.T) {
	r := newRig(t)
	for name, f := range forms {
		numbers, memory := room[uint32](r, 4), room[uint32](r, 32)
		k := kernel[geometryPush](t, r, "test/slab_geometry."+name, nil)
		run(r, k, 1, geometryPush{numbers.Address(), memory.Address()})
		require.Equal(t, []uint32{uint32(f.slots()), uint32(4 * f.slotWords()), 4 * auxWord, 4 * nextWord},
			get(r, numbers))
		want := slab(slices.Repeat([]uint32{slabEmpty}, 32))
		for at := range f.slots() * f.slotWords() {
			want[at] = uint32(at / f.slotWords())
		}
		require.Equal(t, want[:], get(r, memory), name)
	}
}

// What a tile finds in a slab: the first slot of a key, how many there are, the next slab, which slots are live, and
// their order.
func TestSlabView(t *testing.T) {
	for name, f := range forms {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.eachWidth(func(t *testing.T, width int) {
				k := kernel[viewPush](t, r, "test/slab_view."+name, map[string]uint32{"TILE": uint32(width)})
				rapid.Check(t, func(t *rapid.T) {
					defer r.release()
					checkView(t, r, k, f, width, random(rapid.Uint64().Draw(t, "seed")))
				})
			})
		})
	}
}

func checkView(t *rapid.T, r *rig, k *vk.Kernel[viewPush], f form, width int, rnd *rand.Rand) {
	const n = 24
	slabs, wanted := make([]slab, n), make([]uint64, 2*n)
	for i := range slabs {
		slabs[i] = f.aSlab(rnd)
	}
	for i := range wanted {
		wanted[i] = []uint64{f.someKey(rnd), f.someKey(rnd), f.empty(), slabTombstone, 99}[rnd.IntN(5)]
	}
	w := f.words()
	views, places := room[uint32](r, 8*n*width*w), put(r, make([]uint32, 4*32*n*width*w))
	dense := room[uint32](r, 2*32*n*w)
	run(r, k, n*width, viewPush{
		put(r, flat(slabs)).Address(), put(r, f.flat(wanted...)).Address(), views.Address(), places.Address(),
		dense.Address(), n,
	})
	gotViews, gotPlaces, gotDense := f.unflat(get(r, views)), f.unflat(get(r, places)), f.unflat(get(r, dense))
	for i := range slabs {
		s := &slabs[i]
		find := func(key uint64) (slot, value, times uint64) {
			slot, value = uint64(slabEmpty), 0
			for at := f.slots() - 1; at >= 0; at-- {
				if f.key(s, at) == key {
					slot, value, times = uint64(at), f.value(s, at), times+1
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
		empty, _, _ := find(f.empty())
		var live []uint64
		for at := range f.slots() {
			if f.live(s, at) {
				live = append(live, f.key(s, at), f.value(s, at))
			}
		}
		seen := make([]int, f.slots())
		for lane := range width {
			view := gotViews[8*(i*width+lane):][:8]
			if slot == uint64(slabEmpty) {
				view[1] = 0 // the value of what is not found means nothing
			}
			if hit == uint64(slabEmpty) {
				view[5], view[6] = hitKey, 0
			}
			requireWords(t, []uint64{slot, value, times, uint64(s[nextWord]), hit, hitKey, hitValue, empty}, view,
				"slab %v, keys %d, lane %d", s, wanted[2*i:2*i+2], lane)
			for m := range 32 {
				place := gotPlaces[4*(32*(i*width+lane)+m):][:4]
				if place[0] == 0 {
					continue
				}
				at := int(place[0] - 1)
				seen[at]++
				alive := uint64(0)
				if f.live(s, at) {
					alive = 1
				}
				requireWords(t, []uint64{f.key(s, at), f.value(s, at), alive}, place[1:], "slab %v, slot %d", s, at)
			}
		}
		require.Equal(t, slices.Repeat([]int{1}, f.slots()), seen, "each slot is one lane's")
		row := gotDense[2*32*i:][:2*32]
		requireWords(t, live, row[:len(live)], "slab %v", s)
		requireWords(t, slices.Repeat([]uint64{f.empty()}, len(row)-len(live)), row[len(live):],
			"beyond the live slots of %v", s)
	}
}

type changePush struct {
	Slabs, Changes, Numbers, Answers, Seen uint64
	Count                                  uint32
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
	link             uint32
	key, seen, value uint64
	target           uint64
}

// variant is one of the kinds of slabs and protocols.
type variant struct {
	name string
	form
	wide bool // by 64-bit atomics
}

// What is done to a slot takes another protocol (shaders/include/slab_change.glsl).
func (v variant) whole() bool   { return v.wide && !v.keys && !v.long }
func (v variant) ready() bool   { return !v.wide && !v.keys && !v.long }
func (v variant) claimed() bool { return v.wide && !v.keys && v.long }
func (v variant) latched() bool { return !v.wide && v.long }

// variantsOf are those that take 64-bit atomics, or none.
func variantsOf(wide bool) []variant {
	if wide {
		return []variant{{"k32v32a64", forms["k32v32"], true}, {"k64v64a64", forms["k64v64"], true},
			{"k64a64", forms["k64"], true}}
	}
	return []variant{{"k32v32a32", forms["k32v32"], false}, {"k32", forms["k32"], false},
		{"k64v64a32", forms["k64v64"], false}, {"k64a32", forms["k64"], false}}
}

func eachVariant(t *testing.T, test func(t *testing.T, r *rig, v variant, k *vk.Kernel[changePush])) {
	eachProtocol(t, func(t *testing.T, r *rig, wide bool) {
		for _, v := range variantsOf(wide) {
			t.Run(v.name, func(t *testing.T) {
				r := &rig{t: t, d: r.d, s: r.s}
				test(t, r, v, kernel[changePush](t, r, "test/slab_change."+v.name, nil))
			})
		}
	})
}

// answer is what one change answers: whether it is done, or the reference that is linked, and the value seen.
type answer struct {
	word uint32
	seen uint64
}

// change runs the changes, all at once, and returns their answers and the slabs then.
func runChanges(r *rig, v variant, k *vk.Kernel[changePush], slabs []slab, list []change) (answers []answer,
	after []slab) {
	words, numbers := make([]uint32, 0, 4*len(list)), make([]uint64, 0, 4*len(list))
	for _, c := range list {
		words = append(words, c.what, uint32(c.slab), uint32(c.slot), c.link)
		numbers = append(numbers, c.key, c.seen, c.value, c.target)
	}
	out, seen, at := room[uint32](r, len(list)), room[uint32](r, v.words()*len(list)), put(r, flat(slabs))
	run(r, k, len(list), changePush{at.Address(), put(r, words).Address(), put(r, v.flat(numbers...)).Address(),
		out.Address(), seen.Address(), uint32(len(list))})
	got, saw := get(r, out), v.unflat(get(r, seen))
	for i := range list {
		answers = append(answers, answer{got[i], saw[i]})
	}
	return answers, unflat(get(r, at))
}

// settled says whether a slot's value is there, for who has seen a value in it.
func (c change) settled(s *slab, v variant) bool {
	open := s[auxWord]>>c.slot&1 == 1
	return !(v.ready() && open || v.claimed() && open && c.seen == v.empty())
}

// apply is the model of a change that nobody else disturbs. What was seen of the slot before may be old.
func (c change) apply(s *slab, v variant) (done bool, value uint64) {
	stored := v.value(s, c.slot)
	there := v.key(s, c.slot) == c.key
	insert := c.what == changeInsert || c.what == changedInsert
	erase := c.what == changeErase || c.what == changedErase
	open := s[auxWord]>>31 != 0
	changes := func(value, made uint64) {
		v.setValue(s, c.slot, value)
		if v.claimed() && made == v.empty() && stored != made {
			s[auxWord] &^= 1 << c.slot
		}
	}
	switch {
	case v.latched() && (insert || erase || !v.keys && c.writes()):
		if s[auxWord] &^= 1 << 31; !open {
			return false, c.seen // somebody else has the latch
		}
		s[auxWord] = s[auxWord] - 1 | 1<<31
	}
	switch {
	case insert:
		return c.insert(s, v), c.seen
	case v.ready() && !c.settled(s, v):
		return false, c.seen // an unsettled slot's turn comes later
	case erase:
		if there {
			v.setKey(s, c.slot, slabTombstone)
		}
		return there, c.seen
	case c.what == changedAssign && v.whole() && !there:
		return false, c.seen
	case v.keys:
		return true, c.seen // without values there is nothing to do
	case !c.settled(s, v):
		return false, c.seen
	}
	// What is done to the value is done also where the key was erased meanwhile: then it came before that.
	switch c.what {
	case changeValue:
		if v.latched() || (v.whole() || v.claimed()) && c.seen != v.empty() {
			return true, c.seen // what was seen was right when it was seen
		}
		return there || !v.whole(), stored
	case changeAssign, changedAssign:
		changes(c.value, c.value)
	case changeAdd:
		sum := (stored + c.value) & v.empty()
		changes(sum, sum)
	case changeMin:
		if v.ready() || c.value < c.seen {
			changes(min(stored, c.value), 0)
		}
	case changeMax:
		if v.ready() || c.value > c.seen || v.whole() && c.seen == v.empty() {
			changes(max(stored, c.value), c.value)
		}
	}
	return true, c.seen
}

// writes says whether a slab has to be latched for a change of a value.
func (c change) writes() bool {
	switch c.what {
	case changeMin:
		return c.value < c.seen
	case changeMax:
		return c.value > c.seen
	}
	return c.what == changeAssign || c.what == changedAssign || c.what == changeAdd
}

// insert takes the first free slot, unless what it looks for stands before that.
func (c change) insert(s *slab, v variant) bool {
	for slot := c.slot; slot < v.slots(); slot++ {
		switch v.key(s, slot) {
		case v.empty():
			v.setKey(s, slot, c.key)
			if !(v.claimed() && c.value == v.empty()) { // it is there
				v.setValue(s, slot, c.value)
			}
			if v.ready() || v.claimed() && c.value == v.empty() {
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
				slabs[i] = v.aSlab(rnd)
				c := change{
					what: uint32(rnd.IntN(changes)), slab: i, slot: rnd.IntN(v.slots()), link: rnd.Uint32(),
					key: v.someKey(rnd), seen: v.interesting(rnd), value: v.interesting(rnd),
				}
				c.target = []uint64{v.empty(), c.key}[rnd.IntN(2)]
				switch {
				case c.what == changeLink:
				case c.what == changeInsert || c.what == changedInsert:
					if rnd.IntN(2) == 0 {
						v.setKey(&slabs[i], c.slot, v.empty())
						v.setValue(&slabs[i], c.slot, v.empty())
					}
				default: // the key was seen in the slot, and may have been erased since
					v.setKey(&slabs[i], c.slot, []uint64{c.key, c.key, slabTombstone}[rnd.IntN(3)])
					if !v.keys && rnd.IntN(2) == 0 {
						c.seen = v.value(&slabs[i], c.slot)
					}
				}
				list[i] = c
			}
			answers, after := runChanges(r, v, k, slabs, list)
			for i, c := range list {
				s := slabs[i]
				what := fmt.Sprintf("%+v on %x", c, s)
				if c.what == changeLink {
					if s[nextWord] == slabEmpty {
						s[nextWord] = c.link
					}
					require.Equal(t, s[nextWord], answers[i].word, what)
				} else {
					done, value := c.apply(&s, v)
					require.Equal(t, done, answers[i].word == 1, what)
					if done && !v.keys {
						require.Equal(t, value, answers[i].seen, what)
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
		together := func(s slab, of func(i int) change) (answers []answer, after slab) {
			defer r.release()
			list := make([]change, n)
			for i := range list {
				list[i] = of(i)
				list[i].slot = 3
			}
			answers, slabs := runChanges(r, v, k, []slab{s}, list)
			return answers, slabs[0]
		}
		winners := func(answers []answer) (who []int) {
			for i, a := range answers {
				if a.word == 1 {
					who = append(who, i)
				}
			}
			return who
		}
		// elsewhere looks whether only the slot and, of some protocols, its bit or the state have changed.
		elsewhere := func(before, after slab) {
			t.Helper()
			v.setKey(&after, 3, v.key(&before, 3))
			v.setValue(&after, 3, v.value(&before, 3))
			switch {
			case v.ready() || v.claimed():
				after[auxWord] |= before[auxWord] & (1 << 3)
			case v.latched():
				require.NotZero(t, after[auxWord]>>31, "no latch is left behind")
				after[auxWord] = before[auxWord]
			}
			require.Equal(t, before, after)
		}

		answers, after := together(fresh, func(i int) change {
			return change{what: changeInsert, key: 8, value: uint64(i * 7), target: 8}
		})
		who := winners(answers)
		require.Len(t, who, 1, "one insertion of a key takes a slot")
		require.EqualValues(t, 8, v.key(&after, 3))
		if !v.keys {
			require.EqualValues(t, who[0]*7, v.value(&after, 3))
		}
		elsewhere(fresh, after)

		answers, after = together(fresh, func(i int) change {
			return change{what: changeInsert, key: uint64(i + 1), value: uint64(i * 7), target: v.empty()}
		})
		who = winners(answers)
		want := fresh
		for slot := 3; slot < v.slots() && len(who) > slot-3; slot++ {
			i := int(v.key(&after, slot)) - 1
			require.Contains(t, who, i)
			_ = change{what: changeInsert, slot: 3, key: uint64(i + 1), value: uint64(i * 7),
				target: v.empty()}.insert(&want, v)
		}
		if v.latched() { // who finds the latch taken comes again
			require.NotEmpty(t, who)
			require.LessOrEqual(t, len(who), v.slots()-3)
			require.NotZero(t, after[auxWord]>>31)
			want[auxWord] = after[auxWord]
		} else {
			require.Len(t, who, v.slots()-3, "an insertion a slot, from the third on")
		}
		require.Equal(t, want, after)

		answers, after = together(taken, func(int) change { return change{what: changeErase, key: 5} })
		require.Len(t, winners(answers), 1, "one erasure hits")
		require.EqualValues(t, slabTombstone, v.key(&after, 3))
		elsewhere(taken, after)

		answers, after = together(fresh, func(i int) change { return change{what: changeLink, link: uint32(i + 1)} })
		for _, a := range answers {
			require.Equal(t, after[nextWord], a.word, "all go on in the slab that was linked")
		}
		require.NotEqual(t, slabEmpty, after[nextWord])

		if v.keys {
			return
		}
		values := make([]uint64, n)
		for i := range values {
			if values[i] = uint64(rnd.Uint32N(1<<31) + 1); v.long {
				values[i] = rnd.Uint64N(1<<63) + 1
			}
		}
		// Of what takes a latch, who finds it taken comes again.
		done := func(answers []answer) (of []uint64) {
			t.Helper()
			for _, i := range winners(answers) {
				of = append(of, values[i])
			}
			require.NotEmpty(t, of)
			require.True(t, v.latched() || len(of) == n)
			return of
		}
		answers, after = together(taken, func(i int) change {
			return change{what: changeAdd, key: 5, seen: 1000, value: values[i]}
		})
		sum := uint64(1000)
		for _, value := range done(answers) {
			sum += value
		}
		require.Equal(t, sum&v.empty(), v.value(&after, 3))
		elsewhere(taken, after)

		for _, seen := range []uint64{1000, v.empty(), 17} {
			if v.claimed() && seen == v.empty() {
				continue // a value that has not been there since its key was
			}
			answers, after = together(taken, func(i int) change {
				return change{what: changeAssign, key: 5, seen: seen, value: values[i]}
			})
			require.Contains(t, done(answers), v.value(&after, 3))
			elsewhere(taken, after)
		}

		// Where a pair is no one atomic, who is overtaken comes again.
		overtaken := func(answers []answer) (of []uint64) {
			t.Helper()
			for _, i := range winners(answers) {
				of = append(of, values[i])
			}
			require.NotEmpty(t, of)
			require.True(t, !v.wide || len(of) == n)
			return of
		}
		low, high := taken, taken
		v.setValue(&low, 3, 0)
		v.setValue(&high, 3, v.empty()-1)
		answers, after = together(high, func(i int) change {
			return change{what: changeMin, key: 5, seen: v.empty() - 1, value: values[i]}
		})
		require.Equal(t, slices.Min(overtaken(answers)), v.value(&after, 3))
		elsewhere(high, after)
		answers, after = together(low, func(i int) change {
			return change{what: changeMax, key: 5, seen: 0, value: values[i]}
		})
		require.Equal(t, slices.Max(overtaken(answers)), v.value(&after, 3))
		elsewhere(low, after)

		// None of these is lost among others that change nothing.
		for range 20 {
			answers, after = together(taken, func(i int) change {
				return []change{{what: changeAdd, key: 5, seen: 1000, value: 1},
					{what: changeMin, key: 5, seen: v.empty() - 2, value: v.empty() - 1}}[i%2]
			})
			added := 0
			for i, a := range answers {
				if i%2 == 0 && a.word == 1 {
					added++
				}
			}
			require.True(t, v.latched() || added == n/2)
			require.EqualValues(t, 1000+added, v.value(&after, 3))
		}
	})
}
