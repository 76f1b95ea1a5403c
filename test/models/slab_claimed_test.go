package models

import (
	"fmt"
	"testing"
)

// Two slots of a slab whose keys and values are words of one atomic each, and a pair is not: 16-byte pairs with 64-bit
// atomics, 8-byte pairs without. A slot is claimed by a compare-and-swap on its key; the value is stored behind that. A
// value that isn't a fresh slot's is there. One that is may be there or not: the slot's bit says so, which is cleared
// (here: set) by who stores such a value, or makes it.
const (
	claimedBits = 4 // the places: slot i has its key at 2i and its value behind it

	freshKey   = 1001 // of its two words, none is like the key's
	tombstone  = 1
	freshValue = 99 // ~0: as great as a value can be
)

type claimedSlab string // what is broken, "" if nothing is

func keyAt(slot int) int   { return 2 * slot }
func valueAt(slot int) int { return 2*slot + 1 }

// seek finds the key's slot, or the first free one, in slab order. Keys and values are of any age.
func (b claimedSlab) seek(t *Thread, o operation) (slot int, there bool, seen int) {
	v := t.Load(0, 1, 2, 3)
	if b == "keys are torn" {
		other := t.Load(0, 2)
		v = []int{second.with(v[0], second.of(other[0])), v[1], second.with(v[2], second.of(other[1])), v[3]}
	}
	free := -1
	for i := range 2 {
		switch k := v[keyAt(i)]; {
		case k == key:
			return i, true, v[valueAt(i)]
		case k == freshKey || k == tombstone && b == "tombstones are filled":
			if free < 0 || b == "not the first free slot" && o.value == 2 {
				free = i
			}
			if k == freshKey && b != "not the first free slot" {
				return free, false, 0
			}
		}
	}
	return free, false, 0
}

// settled says whether the value of the key that was seen in a slot is there, and what it is.
func (b claimedSlab) settled(t *Thread, slot, seen int) (value int, is bool) {
	if seen != freshValue || b == "nobody waits" {
		return seen, true
	}
	if t.Load(claimedBits)[0]>>slot&1 == 0 {
		return 0, false
	}
	if b == "no look behind the bit" {
		return seen, true
	}
	if b != "no order by address" {
		t.Acquire()
	}
	return t.Load(valueAt(slot))[0], true
}

// settle says that a fresh slot's value is the slot's value, on the result of the atomic that made it: so it is behind
// that atomic, and what this one has seen.
func (b claimedSlab) settle(t *Thread, slot int) {
	if b == "nobody settles" {
		return
	}
	if b != "no order by result" {
		t.Release()
	}
	t.Or(claimedBits, 1<<slot)
}

func (b claimedSlab) insert(t *Thread, slot, value int) (done bool) {
	for ; slot < 2; slot++ {
		free := freshKey
		if b == "tombstones are filled" && t.Load(keyAt(slot))[0] == tombstone {
			free = tombstone
		}
		switch t.CAS(keyAt(slot), free, key) {
		case free:
			if b == "nobody settles" {
				t.Store(valueAt(slot), value)
			} else if value == freshValue {
				t.Or(claimedBits, 1<<slot) // no fence: there is nothing to be seen
			} else {
				t.Store(valueAt(slot), value)
			}
			return true
		case key:
			return false
		}
	}
	return false
}

// swap adds to a settled value by compare-and-swaps, as sums of floats do: two of them, before others are said to have
// been faster.
func (b claimedSlab) swap(t *Thread, slot, seen int, o operation) (done bool) {
	for range 2 {
		made := o.newValue(seen)
		before := t.CAS(valueAt(slot), seen, made)
		if before == seen || b == "a swap that failed is done" {
			if made == freshValue && before != freshValue {
				b.settle(t, slot)
			}
			return true
		}
		seen = before
	}
	return false
}

// change is an update in place of a settled value.
func (b claimedSlab) change(t *Thread, slot, value int, o operation) (done bool) {
	made, before := o.value, 0
	switch o.kind {
	case puts:
		before = t.Exchange(valueAt(slot), o.value)
	case adds:
		before = t.Add(valueAt(slot), o.value)
		made += before
	case swaps:
		return b.swap(t, slot, value, o)
	case lowers:
		t.Min(valueAt(slot), o.value)
		return true
	case raises:
		before = t.Max(valueAt(slot), o.value)
	}
	if made == freshValue && before != freshValue {
		b.settle(t, slot)
	}
	return true
}

func (b claimedSlab) do(t *Thread, o operation) int {
	for range 2 {
		slot, there, seen := b.seek(t, o)
		switch {
		case !there && (o.kind == finds || o.kind == removes):
			return absent
		case !there && slot >= 0:
			if b.insert(t, slot, o.value) {
				return inserted
			}
		case !there:
			return pending // by the next slab
		case o.kind == unique:
			return found
		case o.kind == removes:
			if t.CAS(keyAt(slot), key, tombstone) == key {
				return deleted
			}
		default:
			if value, is := b.settled(t, slot, seen); is {
				if o.kind == finds {
					return foundValue(value)
				}
				if b.change(t, slot, value, o) {
					return assigned
				}
			}
		}
	}
	return pending
}

func (b claimedSlab) model(places []int, ops [][]operation) Model {
	m := Model{Places: places}
	for _, own := range ops {
		m.Threads = append(m.Threads, runs(own, b.do))
	}
	before, held := entry{}, func(places []int) (values []int) {
		for i := range 2 {
			if places[keyAt(i)] == key {
				values = append(values, places[valueAt(i)])
			}
		}
		return values
	}
	if values := held(places); len(values) != 0 {
		before = entry{true, values[0]}
	}
	history := judge(before, ops, held)
	m.Fault = func(places, returned []int) string {
		for i := range 2 {
			if places[keyAt(i)] == key && places[valueAt(i)] == freshValue && places[claimedBits]>>i&1 == 0 {
				return fmt.Sprintf("the value of slot %d is there, and nobody can know", i)
			}
		}
		return history(places, returned)
	}
	return m
}

// All that two or three threads do to a key that isn't there, and to one that is, with what breaks it.
func TestClaimedSlab(t *testing.T) {
	const most = freshValue
	none := []int{freshKey, freshValue, freshKey, freshValue, 0}
	one := []int{key, 1, freshKey, freshValue, 0}
	all := []int{key, most, freshKey, freshValue, 1} // with a value that is a fresh slot's
	for _, c := range []struct {
		places []int
		ops    [][]operation
		broken []claimedSlab
	}{
		{none, [][]operation{{{unique, 1}}, {{unique, 2}}, {{finds, 0}}}, []claimedSlab{
			"nobody waits", "not the first free slot", "keys are torn"}},
		{none, [][]operation{{{unique, most}}, {{unique, 2}}, {{finds, 0}}}, []claimedSlab{"nobody settles"}},
		{none, [][]operation{{{unique, 1}}, {{puts, 2}}, {{finds, 0}, {finds, 0}}}, []claimedSlab{"nobody waits"}},
		{none, [][]operation{{{unique, most}}, {{puts, 2}}, {{finds, 0}, {finds, 0}}}, nil},
		{none, [][]operation{{{unique, 1}}, {{puts, most}}, {{finds, 0}, {finds, 0}}}, []claimedSlab{
			"nobody waits", "nobody settles", "no look behind the bit", "no order by address", "no order by result"}},
		{none, [][]operation{{{puts, 1}}, {{puts, 2}}, {{puts, most}}}, []claimedSlab{"nobody waits"}},
		{none, [][]operation{{{adds, 1}}, {{adds, 98}}, {{finds, 0}, {finds, 0}}}, []claimedSlab{
			"nobody waits", "nobody settles", "no look behind the bit"}},
		{one, [][]operation{{{adds, 98}}, {{adds, 3}}, {{finds, 0}, {finds, 0}}}, nil},
		{none, [][]operation{{{adds, 1}}, {{adds, 2}}, {{adds, 4}}}, []claimedSlab{"nobody waits"}},
		{none, [][]operation{{{swaps, 1}}, {{swaps, 98}}, {{finds, 0}, {finds, 0}}}, []claimedSlab{
			"nobody waits", "nobody settles", "no look behind the bit"}},
		{one, [][]operation{{{swaps, 98}}, {{swaps, 3}}, {{finds, 0}, {finds, 0}}}, []claimedSlab{
			"a swap that failed is done"}},
		{one, [][]operation{{{swaps, 2}}, {{puts, 98}}, {{swaps, 1}}}, nil},
		{all, [][]operation{{{swaps, -9}}, {{removes, 0}, {unique, 2}}, {{finds, 0}}}, nil},
		{none, [][]operation{{{lowers, 3}}, {{lowers, 2}}, {{finds, 0}}}, []claimedSlab{"nobody waits"}},
		{none, [][]operation{{{raises, 3}}, {{raises, most}}, {{lowers, 4}}}, []claimedSlab{"nobody waits"}},
		{none, [][]operation{{{unique, 1}}, {{removes, 0}, {unique, 2}}, {{finds, 0}, {finds, 0}}}, []claimedSlab{
			"tombstones are filled"}},
		{one, [][]operation{{{removes, 0}}, {{unique, 2}}, {{unique, 3}}}, nil},
		{one, [][]operation{{{removes, 0}, {unique, 2}}, {{puts, 3}}, {{finds, 0}, {finds, 0}}}, nil},
		{all, [][]operation{{{removes, 0}, {unique, 2}}, {{adds, -9}}, {{finds, 0}}}, nil},
	} {
		for _, b := range append([]claimedSlab{""}, c.broken...) {
			t.Run(fmt.Sprint(c.ops, " ", b), func(t *testing.T) { check(t, b.model(c.places, c.ops), b == "") })
		}
	}
}
