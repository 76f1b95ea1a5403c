package models

import (
	"fmt"
	"slices"
	"testing"
)

// Slots whose keys don't fit one atomic: 16-byte pairs without 64-bit atomics, in a slab or in a leaf. What is read is
// whole if the state word in front of it and behind it is one, unlatched. A slab is changed by who latches it by a
// compare-and-swap on the state that it was read with, and unlatches it with a new version. A leaf is latched as it is,
// and then read again.
type latchedSlots struct {
	slots, words int // words of a key and of a value
	again        bool
	broken       string
}

const (
	stateWord = 0 // twice the version, and the latch

	tornValue = 500 // of words of different age

	// Keys of two words, the greater one in front. The other key and the tombstone, 0, half and half, are the key, 5.
	fresh = 9009
	other = 4005
)

// word is the place of a slot's word, of the key's or (from l.words on) of the value's.
func (l latchedSlots) word(slot, i int) int { return 1 + 2*l.words*slot + i }

func (l latchedSlots) keyIn(v []int, slot int) int {
	k := v[l.word(slot, 0)]
	if l.words == 2 {
		k = 1000*k + v[l.word(slot, 1)]
	}
	return k
}

func (l latchedSlots) valueIn(v []int, slot int) int {
	value := v[l.word(slot, l.words)]
	if value != v[l.word(slot, 2*l.words-1)] {
		return tornValue
	}
	return value
}

func (l latchedSlots) storeKey(t *Thread, slot, k int) {
	if l.words == 2 {
		t.Store(l.word(slot, 0), k/1000)
		t.Store(l.word(slot, 1), k%1000)
	} else {
		t.Store(l.word(slot, 0), k)
	}
}

func (l latchedSlots) storeValue(t *Thread, slot, value int) {
	for i := range l.words {
		t.Store(l.word(slot, l.words+i), value)
	}
}

func (l latchedSlots) fence(t *Thread, which string, fence func()) {
	if l.broken != which {
		fence()
	}
}

// load reads all words of the slots; the state in front of them.
func (l latchedSlots) load(t *Thread) []int {
	places := []int{}
	for p := range 2 * l.words * l.slots {
		places = append(places, 1+p)
	}
	return append([]int{0}, t.Load(places...)...)
}

func (l latchedSlots) view(t *Thread) (v []int, whole bool) {
	before := t.Load(stateWord)[0]
	l.fence(t, "no fence in front of the slots", t.Acquire)
	v = l.load(t)
	l.fence(t, "no fence behind the slots", t.Acquire)
	after := before
	if l.broken != "one look" {
		after = t.Load(stateWord)[0]
	}
	v[stateWord] = before
	return v, before == after && before&1 == 0
}

// seek finds the key's slot, or else the first free one, -1 where there is none.
func (l latchedSlots) seek(v []int, k int) (slot, room int) {
	for i := range l.slots {
		switch l.keyIn(v, i) {
		case k:
			return i, -1
		case fresh:
			return -1, i
		}
	}
	return -1, -1
}

// latch takes the latch; what it returns was read, and is.
func (l latchedSlots) latch(t *Thread, v []int) (now []int, is bool) {
	switch {
	case l.again:
		seen := t.Or(stateWord, 1)
		if seen&1 != 0 {
			return nil, false
		}
		l.fence(t, "no fence behind the latch", func() { t.Acquire(); t.Release() })
		v = l.load(t)
		v[stateWord] = seen
		return v, true
	case l.broken == "latched in any version":
		if t.Or(stateWord, 1)&1 != 0 {
			return nil, false
		}
	case t.CAS(stateWord, v[stateWord], v[stateWord]|1) != v[stateWord]:
		return nil, false
	}
	l.fence(t, "no fence behind the latch", t.Release)
	return v, true
}

func (l latchedSlots) unlatch(t *Thread, v []int, changed bool) {
	next := v[stateWord]
	if changed && l.broken != "the version stays" {
		next += 2
	}
	l.fence(t, "no fence in front of the unlatching", t.Release)
	t.Store(stateWord, next)
}

// answer is an operation's result if nothing is to be changed for it.
func (l latchedSlots) answer(v []int, o operation, slot, room int) (result int, is bool) {
	switch {
	case slot < 0 && (o.kind == finds || o.kind == removes || o.kind == disturbs):
		return absent, true
	case slot < 0 && room < 0:
		return pending, true // by the next slab
	case slot >= 0 && o.kind == finds:
		return foundValue(l.valueIn(v, slot)), true
	case slot >= 0 && o.kind == unique:
		return found, true
	}
	return 0, false
}

func (l latchedSlots) do(t *Thread, o operation) int {
	k := key
	if o.kind == disturbs {
		k = other
	}
	for range 2 {
		v, whole := l.view(t)
		if !whole {
			continue
		}
		slot, room := l.seek(v, k)
		if result, is := l.answer(v, o, slot, room); is {
			return result
		}
		v, is := l.latch(t, v)
		if !is {
			continue
		}
		slot, room = l.seek(v, k)
		result, over := l.answer(v, o, slot, room)
		switch {
		case over:
		case slot < 0:
			l.storeKey(t, room, k)
			l.storeValue(t, room, o.value)
			result = inserted
		case o.kind == removes || o.kind == disturbs:
			l.storeKey(t, slot, 0)
			result = deleted
		default:
			l.storeValue(t, slot, o.newValue(l.valueIn(v, slot)))
			result = assigned
		}
		l.unlatch(t, v, !over)
		return result
	}
	return pending
}

func (l latchedSlots) model(keys, values []int, ops [][]operation) Model {
	m := Model{Places: []int{0}}
	for i := range l.slots {
		k := []int{keys[i] / 1000, keys[i] % 1000}
		if l.words == 1 {
			k = keys[i : i+1]
		}
		m.Places = slices.Concat(m.Places, k, slices.Repeat(values[i:i+1], l.words))
	}
	for _, own := range ops {
		m.Threads = append(m.Threads, runs(own, l.do))
	}
	held := func(places []int) (values []int) {
		for i := range l.slots {
			if l.keyIn(places, i) == key {
				values = append(values, l.valueIn(places, i))
			}
		}
		return values
	}
	before := entry{}
	if values := held(m.Places); len(values) != 0 {
		before = entry{true, values[0]}
	}
	m.Fault = judge(before, ops, held)
	return m
}

func TestLatchedSlots(t *testing.T) {
	for _, c := range []struct {
		slots, words int
		keys, values []int
		ops          [][]operation
		broken       []string
	}{
		// Whole pairs, of one slot.
		{1, 2, []int{fresh}, []int{99}, [][]operation{{{unique, 1}}, {{finds, 0}}}, []string{
			"one look", "no fence in front of the slots", "no fence behind the slots", "no fence behind the latch",
			"no fence in front of the unlatching"}},
		{1, 2, []int{key}, []int{1}, [][]operation{{{puts, 2}}, {{finds, 0}}}, []string{
			"one look", "no fence behind the slots", "no fence behind the latch"}},
		{1, 2, []int{other}, []int{1}, [][]operation{{{disturbs, 0}}, {{finds, 0}, {removes, 0}}}, []string{
			"one look", "no fence behind the slots", "no fence behind the latch"}},
		// Keys that are there once, and what is done to one value.
		{2, 1, []int{fresh, fresh}, []int{99, 99}, [][]operation{{{unique, 1}}, {{puts, 2}, {finds, 0}}}, []string{
			"no fence in front of the unlatching"}},
		{2, 1, []int{fresh, fresh}, []int{99, 99}, [][]operation{{{unique, 1}}, {{unique, 2}}, {{finds, 0}}}, []string{
			"latched in any version"}},
		{1, 1, []int{fresh}, []int{99}, [][]operation{{{unique, 1}}, {{puts, 2}}, {{removes, 0}}}, []string{
			"latched in any version"}},
		{2, 1, []int{key, fresh}, []int{1, 99}, [][]operation{
			{{removes, 0}, {unique, 2}}, {{finds, 0}}}, []string{"one look"}},
		{1, 1, []int{key}, []int{1}, [][]operation{{{adds, 1}}, {{adds, 3}}, {{lowers, 2}}}, []string{
			"latched in any version", "the version stays", "no fence in front of the unlatching"}},
		{1, 1, []int{fresh}, []int{99}, [][]operation{{{adds, 1}}, {{finds, 0}, {finds, 0}}}, nil},
	} {
		for _, again := range []bool{false, true} {
			if again && len(c.ops) > 2 {
				continue // two of them are enough for what is another way
			}
			for _, broken := range append([]string{""}, c.broken...) {
				if again && (broken == "latched in any version" || broken == "the version stays") {
					continue // of the other way to latch
				}
				t.Run(fmt.Sprint(c.words, c.ops, " ", again, " ", broken), func(t *testing.T) {
					l := latchedSlots{c.slots, c.words, again, broken}
					check(t, l.model(c.keys, c.values, c.ops), broken == "")
				})
			}
		}
	}
}
