package models

import (
	"fmt"
	"testing"
)

// A leaf of two slots with 16-byte pairs and 64-bit atomics. A free slot's key is none that the leaf may hold, and has
// the version in it, which the compare-and-swap that claims the slot expects; the value comes behind that, as in a slab
// (slab_claimed_test.go). Whose value hasn't come, that slot is not filled again, nor moved. Values change under the
// latch, the version stays then. A pair is read whole by one load; on devices where it is not, the meta is one in front
// of the slots and behind them, unlatched.
type claimedLeaf struct {
	tears  bool
	broken string
}

const (
	leafBits = iota + 2 // behind the slots: a bit of a slot whose value is there, though it is a fresh slot's
	leafMeta
	leafHigh
	leafRight // the leaf that is split off: its pair,
	leafRightBits
	leafRightMeta

	glance     = -1 // of a find: a short one, for a key that is or was in slot 1
	erasedKey  = 900
	emptyKey   = 901                   // and the version
	hasRoom    = perResult * perResult // of what a thread returns: it has brought its own pair
	closedHigh = 998                   // of a leaf in which keys are like that: it has no empty slots
)

type leafSeen struct {
	key, value [2]int
	meta, high int
}

func (l claimedLeaf) load(t *Thread) (v leafSeen) {
	places := []int{leafMeta, leafHigh, 0, 1}
	if l.tears {
		places = append(places, 0, 1) // for the values
	}
	loaded := t.Load(places...)
	keys, values := loaded[2:4], loaded[len(loaded)-2:]
	for slot := range 2 {
		v.key[slot], v.value[slot] = first.of(keys[slot]), second.of(values[slot])
	}
	v.meta, v.high = loaded[0], loaded[1]
	return v
}

// view reads the leaf; not whole: look again.
func (l claimedLeaf) view(t *Thread) (v leafSeen, whole bool) {
	if !l.tears || l.broken == "pairs are taken for whole" {
		return l.load(t), true
	}
	before := t.Load(leafMeta)[0]
	t.Acquire()
	v = l.load(t)
	t.Acquire()
	after := t.Load(leafMeta)[0]
	v.meta = before
	return v, before == after && before&latch == 0
}

// value is that of the key seen in a slot. One that is like a fresh slot's is looked at again, in one version: the
// slot's bit first, which may be that of a pair before, then the slot.
func (l claimedLeaf) value(t *Thread, slot, seen int) (value int, is bool) {
	if seen != freshValue || l.broken == "nobody waits" {
		return seen, true
	}
	if l.broken == "one look at a fresh value" {
		return seen, t.Load(leafBits)[0]>>slot&1 == 1
	}
	t.Acquire()
	before := t.Load(leafMeta)[0]
	t.Acquire()
	bits := t.Load(leafBits)[0]
	t.Acquire()
	v := l.load(t)
	t.Acquire()
	after := t.Load(leafMeta)[0]
	return v.value[slot], before == after && before&latch == 0 && bits>>slot&1 == 1 && v.key[slot] == key
}

func (l claimedLeaf) claim(t *Thread, slot, expected, value int) bool {
	if t.CASFirst(slot, expected, key) != expected {
		return false
	}
	if value == freshValue {
		t.Or(leafBits, 1<<slot)
	} else {
		t.StoreSecond(slot, value)
	}
	return true
}

// change is an update in place, under the latch, which keeps others from moving the pair and from filling the slot
// anew.
func (l claimedLeaf) change(t *Thread, o operation) bool {
	before := 0
	if l.broken != "changed without the latch" {
		if before = t.Or(leafMeta, latch); before&latch != 0 {
			return false
		}
	}
	t.Acquire()
	t.Release()
	v, bits := l.load(t), t.Load(leafBits)[0]
	done := false
	for slot := range 2 {
		if v.key[slot] != key || v.high < key {
			continue
		}
		if v.value[slot] == freshValue && bits>>slot&1 == 0 && l.broken != "nobody waits" {
			continue
		}
		made := o.newValue(v.value[slot])
		t.StoreSecond(slot, made)
		if made == freshValue {
			t.Release()
			t.Or(leafBits, 1<<slot)
		}
		done = true
	}
	t.Release()
	if l.broken != "changed without the latch" {
		t.Store(leafMeta, before)
	}
	return done
}

func (l claimedLeaf) do(t *Thread, o operation) int {
	if o.value == glance {
		if first.of(t.Load(1)[0]) == erasedKey {
			return absent
		}
		return pending
	}
	again, last := false, 0
	for range 2 {
		v, whole := l.view(t)
		if !whole {
			continue
		}
		if v.high < key {
			t.Acquire()
			return l.right(t, o)
		}
		if outcome, over := l.meet(t, o, v, again && v.meta == last && last&latch == 0); over {
			return outcome
		}
		again, last = true, v.meta
		t.Acquire()
	}
	return pending
}

// seek finds the key's slot and the first empty one for it, -1 where there is none.
func (l claimedLeaf) seek(o operation, v leafSeen) (slot, room int) {
	slot, room = -1, -1
	for i := range 2 {
		from := i
		if l.broken == "not one first slot" {
			from = (i + o.value) % 2
		}
		if v.key[i] == key {
			slot = i
		}
		open := v.high < erasedKey || l.broken == "closed leaves are filled"
		if room < 0 && open && v.key[from] >= emptyKey {
			room = from
		}
	}
	return slot, room
}

// meet does an operation, if a view of the leaf, sure or not, is enough for it.
func (l claimedLeaf) meet(t *Thread, o operation, v leafSeen, sure bool) (outcome int, over bool) {
	slot, room := l.seek(o, v)
	switch {
	case slot >= 0 && o.kind == unique:
		return found, true
	case slot >= 0 && o.kind == finds:
		value, is := l.value(t, slot, v.value[slot])
		return foundValue(value), is
	case slot >= 0 && o.kind == removes:
		return deleted, t.CASFirst(slot, key, erasedKey) == key
	case slot >= 0:
		return assigned, l.change(t, o)
	case o.kind == finds || o.kind == removes:
		return absent, sure
	case room >= 0:
		version := v.key[room] - emptyKey
		may := version == 0 || sure && version == v.meta/2 || l.broken == "one view"
		return inserted, may && l.claim(t, room, v.key[room], o.value)
	}
	return pending, true // it wants the latch
}

// right is what is done in the leaf that was split off, as far as that is needed here.
func (l claimedLeaf) right(t *Thread, o operation) int {
	v := t.Load(leafRight)[0]
	if o.kind != finds {
		return pending
	}
	if first.of(v) != key {
		return absent
	}
	return foundValue(second.of(v))
}

// arrived says whether what was read in a slot has a value. Who filled it may be about to store it, if not.
func (l claimedLeaf) arrived(v leafSeen, bits, slot int) bool {
	return v.value[slot] != freshValue || bits>>slot&1 == 1 || l.broken == "values on their way are left out"
}

// frees says which slots a latched leaf can be cleaned of, and which a split moves out, behind which keys up to `high`
// are in it. It can't be done where there is room, nor while what is to be moved is on its way, nor for a key that is
// there.
func (l claimedLeaf) frees(v leafSeen, bits, own, high int) (free, moves []int, can bool) {
	can = true
	for slot := range 2 {
		switch k := v.key[slot]; {
		case k >= emptyKey && v.high < erasedKey || k == own:
			can = false
		case k == erasedKey && l.arrived(v, bits, slot):
			free = append(free, slot)
		case k != erasedKey && k > high:
			can = can && l.arrived(v, bits, slot)
			moves = append(moves, slot)
		}
	}
	return free, moves, can && (own == 0 || len(free) != 0)
}

// moveOut writes the new leaf, and publishes it.
func (l claimedLeaf) moveOut(t *Thread, v leafSeen, bits int, moves []int, high int) {
	for _, slot := range moves {
		k := v.key[slot]
		if l.broken != "pairs are not taken" {
			k = t.ExchangeFirst(slot, erasedKey)
		}
		if k == v.key[slot] {
			t.Store(leafRight, pair(k, v.value[slot]))
			t.Store(leafRightBits, bits>>slot&1)
		}
	}
	t.Store(leafRightMeta, unlatched(0))
	t.Release()
	t.Store(leafHigh, high)
}

// makesRoom is the cleaning of a full leaf, for a pair of its own, or its split (own: 0).
func (l claimedLeaf) makesRoom(own, high int) func(*Thread) int {
	return func(t *Thread) int {
		before := t.Or(leafMeta, latch)
		if before&latch != 0 {
			return pending
		}
		t.Acquire()
		t.Release()
		v, bits := l.load(t), t.Load(leafBits)[0]
		free, moves, can := l.frees(v, bits, first.of(own), high)
		if !can {
			t.Store(leafMeta, before)
			return pending
		}
		outcome := done
		if own == 0 {
			l.moveOut(t, v, bits, moves, high)
		}
		free = append(free, moves...)
		for _, slot := range free {
			if l.broken == "values stay" {
				break
			}
			t.StoreSecond(slot, freshValue)
			if bits>>slot&1 == 1 {
				t.Add(leafBits, -1<<slot)
			}
		}
		if own != 0 {
			t.StoreSecond(free[0], second.of(own))
			t.Release()
			t.ExchangeFirst(free[0], first.of(own))
			free, outcome = free[1:], inserted
		}
		if l.broken != "no fence behind the cleaning" {
			t.Release()
		}
		for _, slot := range free {
			t.ExchangeFirst(slot, emptyKey+before/2+1)
		}
		if l.broken != "no fence behind the cleaning" {
			t.Release()
		}
		t.Store(leafMeta, unlatched(before/2+1))
		return outcome
	}
}

// A leaf as it is at first, what is done to the key, and what else is done to the leaf.
type leafCase struct {
	slots  [2]int
	high   int
	ops    [][]operation
	room   room
	broken []string
}

// room is a cleaning, which brings a pair, or a split (own: 0), which leaves keys up to one.
type room struct {
	own, stays int
	behind     []operation // what its thread does to the key before
}

func (l claimedLeaf) model(c leafCase) Model {
	bits := 0
	for slot, p := range c.slots {
		if first.of(p) < erasedKey && second.of(p) == freshValue {
			bits |= 1 << slot
		}
	}
	m := Model{Places: []int{c.slots[0], c.slots[1], bits, unlatched(0), c.high, pair(erasedKey, 0), 0, unlatched(0)}}
	for _, own := range c.ops {
		m.Threads = append(m.Threads, runs(own, l.do))
	}
	ops := c.ops
	if c.room.own != 0 || c.room.stays != 0 {
		thread, own := l.roomThread(c.room)
		m.Threads = append(m.Threads, thread)
		ops = append(ops[:len(ops):len(ops)], own)
	}
	held := func(places []int) (values []int) {
		for _, slot := range []int{0, 1, leafRight} {
			if first.of(places[slot]) == key {
				values = append(values, second.of(places[slot]))
			}
		}
		return values
	}
	before := entry{}
	if values := held(m.Places); len(values) != 0 {
		before = entry{true, values[0]}
	}
	history := judge(before, ops, held)
	m.Fault = func(places, returned []int) string {
		if what := c.fault(places, returned); what != "" {
			return what
		}
		return history(places, returned)
	}
	return m
}

// roomThread is the thread that makes room, and what of it belongs to the key's history.
func (l claimedLeaf) roomThread(r room) (thread func(*Thread) int, ops []operation) {
	before, ops := runs(r.behind, l.do), r.behind
	if first.of(r.own) == key {
		ops = append(ops[:len(ops):len(ops)], operation{unique, second.of(r.own)})
	}
	makes := l.makesRoom(r.own, r.stays)
	return func(t *Thread) int {
		results, outcome := before(t), makes(t)
		if len(ops) > len(r.behind) {
			results = perResult*results + outcome
		}
		if outcome == inserted {
			results += hasRoom
		}
		return results
	}, ops
}

// fault is what is wrong with the leaf, but for the key's history: all other pairs stay, and the cleaner's is there if
// it is done.
func (c leafCase) fault(places, returned []int) string {
	there := map[int]bool{places[0]: true, places[1]: true, places[leafRight]: true}
	for _, p := range c.slots {
		k := first.of(p)
		if other := k != key && k != erasedKey && (k < emptyKey || c.high >= erasedKey); other && !there[p] {
			return fmt.Sprintf("pair %d is lost: %v", p, places)
		}
	}
	if returned[len(returned)-1] >= hasRoom && !there[c.room.own] {
		return fmt.Sprintf("the cleaner's pair is lost: %v", places)
	}
	for slot := range 2 {
		if first.of(places[slot]) != key {
			continue
		}
		if places[leafHigh] < key {
			return "the key is in the leaf that it is no longer for"
		}
		if second.of(places[slot]) == freshValue && places[leafBits]>>slot&1 == 0 {
			return "a value is there, and nobody can know"
		}
	}
	return ""
}

func TestClaimedLeaf(t *testing.T) {
	empty, erased, low := pair(emptyKey, freshValue), pair(erasedKey, 7), pair(lower, 1)
	const most = freshValue
	clean := func(own int, behind ...operation) room { return room{own, closedHigh, behind} }
	splits := func(stays int) room { return room{stays: stays} }
	for _, c := range []leafCase{
		// A leaf with room.
		{[2]int{empty, empty}, wide, [][]operation{{{unique, 1}}, {{unique, 2}}, {{finds, 0}}}, room{}, []string{
			"not one first slot", "nobody waits"}},
		{[2]int{empty, low}, wide, [][]operation{{{unique, most}}, {{finds, 0}}}, room{}, nil},
		{[2]int{empty, low}, wide, [][]operation{{{unique, most}}, {{puts, 2}}}, room{}, nil},
		{[2]int{empty, low}, wide, [][]operation{{{unique, 1}}, {{puts, most}}}, room{}, []string{"nobody waits"}},
		{[2]int{pair(key, 1), low}, wide, [][]operation{{{puts, most}}, {{finds, 0}, {finds, 0}}}, room{}, nil},
		{[2]int{pair(key, 1), low}, wide, [][]operation{{{adds, 1}}, {{adds, 2}}}, room{}, []string{
			"changed without the latch"}},
		{[2]int{empty, low}, wide, [][]operation{{{adds, 1}}, {{adds, 2}}, {{removes, 0}}}, room{},
			[]string{"nobody waits"}},
		// Cleaning.
		{[2]int{erased, erased}, wide, [][]operation{{{unique, 1}}, {{finds, 0}}}, clean(pair(lower, 8)), []string{
			"values stay"}},
		{[2]int{erased, erased}, wide, [][]operation{{{unique, 1}}, {{unique, 2}}}, clean(pair(lower, 8)), nil},
		{[2]int{erased, erased}, wide, [][]operation{{{unique, 1}}, {{finds, 0}}}, clean(pair(key, 8)), []string{
			"no fence behind the cleaning"}},
		{[2]int{pair(key, 1), low}, wide, [][]operation{{{finds, 0}}}, clean(pair(filler, 8), operation{removes, 0}),
			[]string{"pairs are taken for whole"}},
		{[2]int{pair(key, most), low}, wide, [][]operation{{{finds, 0}}},
			clean(pair(key, 8), operation{removes, 0}), nil},
		{[2]int{erased, pair(key, most)}, wide, [][]operation{{{unique, 2}}, {{finds, glance}, {finds, 0}}},
			clean(pair(filler, 8), operation{removes, 0}), []string{"one look at a fresh value"}},
		{[2]int{empty, low}, wide, [][]operation{{{unique, 1}}},
			clean(pair(filler, 8), operation{removes, 0}), []string{
				"values on their way are left out"}},
		// A split that moves the key.
		{[2]int{pair(key, 1), low}, wide, [][]operation{{{removes, 0}}, {{finds, 0}}}, splits(narrow), []string{
			"pairs are not taken"}},
		{[2]int{pair(key, 1), low}, wide, [][]operation{{{puts, 2}}, {{finds, 0}}}, splits(narrow), []string{
			"changed without the latch"}},
		{[2]int{empty, low}, wide, [][]operation{{{unique, 1}}, {{finds, 0}}}, splits(narrow), []string{
			"values on their way are left out"}},
		// One behind which the key is for the other leaf.
		{[2]int{pair(filler, 1), low}, wide, [][]operation{{{unique, 1}}}, splits(narrow), []string{"one view"}},
		// One of a leaf that was closed, with a key that is like an empty slot's.
		{[2]int{pair(emptyKey, 3), low}, closedHigh, [][]operation{{{unique, 1}}, {{finds, 0}}}, splits(narrow + key),
			[]string{"closed leaves are filled"}},
	} {
		for _, tears := range []bool{false, true} {
			for _, broken := range append([]string{""}, c.broken...) {
				m := claimedLeaf{tears, broken}.model(c)
				// Where pairs tear, each view has the fences of two.
				if tears && (len(m.Threads) > 2 || broken == "one view") ||
					!tears && broken == "pairs are taken for whole" {
					continue
				}
				name := fmt.Sprint(c.ops, c.room.behind, c.room.own, c.room.stays, " ", tears, " ", broken)
				t.Run(name, func(t *testing.T) {
					check(t, m, broken == "")
				})
			}
		}
	}
}
