package models

import (
	"fmt"
	"slices"
	"testing"
)

// slab_hash_delete_all of slab_hash.glsl, on a list of two slabs of two slots, beside whatever else changes them. A
// tile reads a slab and erases the key in all slots in which it has seen it; its lanes do so in any order. If none of
// those is left and no slot is free, it goes on to the next slab. It ends when it has seen none at the end of the list,
// and that still is the end (slab_absent_test.go). A pair is there as soon as its key is, or (settles) once its bit is
// set: until then nobody can erase it.
type emptying struct {
	settles bool
	broken  string
}

const (
	emptyingNext    = 4 // the places: slot i of the list at i; 1 if the first slab has a next one;
	emptyingSettled = 5 // the bits of settled slots
)

// view is a look at a slab: its slots, what they hold, and whether there is a next one.
func (e emptying) view(t *Thread, slab int) (slots, held []int, next int) {
	slots = []int{2 * slab, 2*slab + 1}
	if slab == 1 {
		return slots, t.Load(slots...), 0
	}
	held = t.Load(0, 1, emptyingNext)
	return slots, held[:2], held[2]
}

func (e emptying) erase(t *Thread, slot int) bool {
	if e.settles && t.Load(emptyingSettled)[0]>>slot&1 == 0 {
		return false
	}
	if e.broken == "whatever is there is erased" {
		t.Store(slot, tombstone)
		return true
	}
	return t.CAS(slot, key, tombstone) == key
}

// deleteAll returns as its value how many pairs it has deleted.
func (e emptying) deleteAll(t *Thread, backwards bool) int {
	slab, count := 0, 0
	for range 6 {
		slots, held, next := e.view(t, slab)
		lanes := []int{0, 1}
		if backwards {
			slices.Reverse(lanes)
		}
		seen, erased := 0, 0
		for _, lane := range lanes {
			if held[lane] == key {
				seen++
				if e.erase(t, slots[lane]) {
					erased++
				}
			}
		}
		count += erased
		if e.broken == "it counts what it has seen" {
			count += seen - erased
		}
		all := seen == erased || e.broken == "it goes on though some are left"
		end := next == 0
		place, holds := emptyingNext, 0
		if free := slices.Index(held, freshKey); free >= 0 {
			end, place, holds = true, slots[free], freshKey
		}
		switch {
		case end && seen == 0 && (slab == 1 && place == emptyingNext || e.ends(t, place, holds)),
			e.broken == "it ends with the first slab":
			return perOutcome*count + deleted
		case !end && all:
			slab = 1
			t.Follow(2, 3)
		}
	}
	return perOutcome*count + pending
}

// remove is OP_DELETE.
func (e emptying) remove(t *Thread) int {
	for slab := range 2 {
		slots, held, next := e.view(t, slab)
		for lane := range 2 {
			if held[lane] == key && e.erase(t, slots[lane]) {
				return perOutcome + done
			}
		}
		if next == 0 {
			break
		}
		t.Follow(2, 3)
	}
	return absent
}

// insert puts the key into the first free slot, but finds it if it meets it first and `finds`.
func (e emptying) insert(t *Thread, finds bool) int {
	for slot := range 4 {
		if slot == 2 {
			t.CAS(emptyingNext, 0, 1)
		}
		switch k := t.CAS(slot, freshKey, key); {
		case k == freshKey:
			if e.settles {
				t.Or(emptyingSettled, 1<<slot)
			}
			return inserted
		case k == key && finds:
			return found
		}
	}
	return pending
}

func TestDeleteAll(t *testing.T) {
	const free = freshKey
	all := func(t *Thread, e emptying) int { return e.deleteAll(t, false) }
	backwards := func(t *Thread, e emptying) int { return e.deleteAll(t, true) }
	remove := func(t *Thread, e emptying) int { return e.remove(t) }
	insert := func(t *Thread, e emptying) int { return e.insert(t, false) }
	insertAndAll := func(t *Thread, e emptying) int { e.insert(t, false); return e.deleteAll(t, false) }
	findAndAll := func(t *Thread, e emptying) int {
		if status := e.insert(t, true); status != found {
			return status
		}
		return e.deleteAll(t, false)
	}
	const counts, stores, ends, goesOn = "it counts what it has seen", "whatever is there is erased",
		"it ends with the first slab", "it goes on though some are left"
	for _, c := range []struct {
		name    string
		slots   []int
		next    int
		threads []func(*Thread, emptying) int
		leaves  bool // at the end there may be pairs that were inserted meanwhile
		broken  []string
	}{
		{"twice", []int{key, key, key, filler}, 1,
			[]func(*Thread, emptying) int{all, backwards}, false, []string{counts, stores, ends}},
		{"deletions", []int{key, filler, key, free}, 1,
			[]func(*Thread, emptying) int{all, remove, remove}, false, []string{counts, stores}},
		{"insertions", []int{key, filler, key, free}, 1,
			[]func(*Thread, emptying) int{all, insert, insert}, true, []string{ends}},
		{"a new slab", []int{key, key, free, free}, 0,
			[]func(*Thread, emptying) int{backwards, insertAndAll}, true, []string{counts}},
		{"what it inserted", []int{key, filler, free, free}, 0,
			[]func(*Thread, emptying) int{insertAndAll, remove}, false, []string{counts, ends}},
		{"what it found", []int{filler, free, free, free}, 1,
			[]func(*Thread, emptying) int{insert, findAndAll, remove}, false, []string{goesOn}},
	} {
		for _, settles := range []bool{false, true} {
			for _, broken := range append([]string{""}, c.broken...) {
				if broken == goesOn && !settles {
					continue // nothing is left but what somebody else erases
				}
				t.Run(fmt.Sprint(c.name, " ", settles, " ", broken), func(t *testing.T) {
					e := emptying{settles, broken}
					check(t, e.model(c.slots, c.next, c.threads, c.leaves), broken == "")
				})
			}
		}
	}
}

func (e emptying) model(slots []int, next int, threads []func(*Thread, emptying) int, leaves bool) Model {
	settled := 0
	for slot, k := range slots {
		if k == key {
			settled |= 1 << slot
		}
	}
	m := Model{Places: append(slices.Clone(slots), next, settled)}
	for _, do := range threads {
		m.Threads = append(m.Threads, func(t *Thread) int { return do(t, e) })
	}
	m.Fault = func(places, returned []int) string {
		counted, erased, ended := 0, 0, false
		for _, result := range returned {
			counted += result / perOutcome
			ended = ended || result%perOutcome == deleted
		}
		for slot, k := range places[:len(slots)] {
			switch {
			case k == tombstone:
				erased++
			case slots[slot] == filler && k != filler:
				return "another key is gone"
			case k == key && ended && !(leaves && slots[slot] == freshKey):
				return fmt.Sprintf("slot %d has a pair that was there before its key was deleted", slot)
			}
		}
		if counted != erased {
			return fmt.Sprintf("%d pairs are erased and %d counted", erased, counted)
		}
		return ""
	}
	return m
}
