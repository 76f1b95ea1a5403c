package models

import (
	"fmt"
	"testing"
)

// A leaf of the B-link-tree with 64-bit atomics (btree_leaf.glsl, btree_latch.glsl): three slots, whose pairs are words
// of their own, the meta, and the fence's high with the link, which are one word, too.
const (
	slots = 3

	meta = slots
	high = slots + 1

	erased = 1
	latch  = 1

	// Of the leaf that is split off.
	rightSlot = slots + 2
	rightMeta = slots + 3

	key    = 5  // that all is about
	filler = 9  // another key, greater
	lower  = 2  // another one, which stays at the left
	wide   = 99 // a high above all keys, and
	narrow = 3  // one below the key: the link leads to the leaf at the right
)

func pair(key, value int) int   { return 1000*key + value }
func empty(version int) int     { return 2 * version } // even, below 1000
func unlatched(version int) int { return 2 * version } // of a meta
func keyOf(word int) int        { return word / 1000 } // 0: of a free slot
func isEmpty(word int) bool     { return word < 1000 && word%2 == 0 }

// What operations return.
const (
	pending = iota
	inserted
	assigned
	deleted
	found
	absent
	done // of what is no operation
)

// proof is what an operation concludes from, that a slot is to be filled or the key absent.
type proof int

const (
	oneMeta    proof = iota // two views of one unlatched meta; of a slot, the one with its version
	oneVersion              // of a slot: it has one version in two views
	oneLatch                // of absence: the second one of two views is unlatched
	oneView                 // what it sees
)

// seek is a tile at its leaf: it looks for the key and, from a slot on, for an empty one, as often as it takes to be
// sure.
func seek(t *Thread, first int, fills bool, by proof) (outcome, slot, word int) {
	again, seen, seenVersion := false, 0, 0
	for range 3 {
		v := t.Load(0, 1, 2, meta, high)
		if v[high] < key {
			return moved, 0, 0
		}
		room := -1
		for i := range slots {
			if keyOf(v[i]) == key {
				return found, i, v[i]
			}
			if s := (first + i) % slots; room < 0 && isEmpty(v[s]) {
				room = s
			}
		}
		sure := again && v[meta] == seen && seen&latch == 0
		switch by {
		case oneLatch:
			sure = again && v[meta]&latch == 0
		case oneView:
			sure = true
		}
		switch {
		case !fills && sure:
			return absent, 0, 0
		case fills && room >= 0:
			fresh := v[room] == empty(0) || sure && v[room] == empty(seen/2)
			if fresh || by == oneVersion && again && v[room] == seenVersion || by == oneView {
				return inserted, room, v[room]
			}
			seenVersion = v[room]
		case fills && sure:
			return pending, 0, 0 // it wants the latch
		}
		again, seen = true, v[meta]
		t.Acquire()
	}
	return pending, 0, 0
}

const moved = -1 // to the right

// insert is OP_INSERT of the key with a value.
func insert(value, first int, by proof) func(*Thread) int {
	return func(t *Thread) int {
		for range 2 {
			outcome, slot, word := seek(t, first, true, by)
			switch outcome {
			case inserted:
				if t.CAS(slot, word, pair(key, value)) == word {
					return inserted
				}
			case found:
				if t.CAS(slot, word, pair(key, value)) == word {
					return assigned
				}
			default:
				return pending
			}
		}
		return pending
	}
}

// remove is OP_DELETE of the key.
func remove(t *Thread) int {
	for range 2 {
		outcome, slot, word := seek(t, 0, false, oneMeta)
		if outcome != found {
			return max(outcome, pending)
		}
		if t.CAS(slot, word, erased) == word {
			return deleted
		}
	}
	return pending
}

// find is OP_FIND of the key, in the leaf and in the one that a split moved it to.
func find(by proof) func(*Thread) int {
	return func(t *Thread) int {
		outcome, _, _ := seek(t, 0, false, by)
		if outcome == moved {
			t.Acquire()
			return findRight(t)
		}
		return outcome
	}
}

func findRight(t *Thread) int {
	for again, seen := false, 0; ; {
		v := t.Load(rightSlot, rightMeta)
		if keyOf(v[0]) == key {
			return found
		}
		if again && seen == v[1] {
			return absent
		}
		again, seen = true, v[1]
		t.Acquire()
	}
}

// clean is the cleaner of a latched leaf of version 0, all whose slots are erased: it puts a pair of its own, gives the
// other slots its version, and unlatches. Broken, the pair comes behind the versions.
func clean(own int, broken bool) func(*Thread) int {
	return func(t *Thread) int {
		if !broken {
			t.Store(0, own)
			t.Release()
		}
		for slot := 1; slot < slots; slot++ {
			t.Store(slot, empty(1))
		}
		if broken {
			t.Store(0, own)
		}
		t.Release()
		t.Store(meta, unlatched(1))
		return done
	}
}

// split takes the latch of a leaf and moves the keys above narrow out of it; broken, without taking them out first.
func split(broken bool) func(*Thread) int {
	return func(t *Thread) int {
		if t.Or(meta, latch)&latch != 0 {
			return pending
		}
		t.Acquire()
		t.Release()
		v := t.Load(0, 1, 2)
		moves, free := erased, []int{}
		for slot := range slots {
			switch {
			case isEmpty(v[slot]):
				t.Store(meta, unlatched(0)) // there is room
				return pending
			case keyOf(v[slot]) > narrow:
				word := v[slot]
				if !broken {
					word = t.Exchange(slot, erased)
				}
				if keyOf(word) == key {
					moves = word
				}
				free = append(free, slot)
			case v[slot] == erased:
				free = append(free, slot)
			}
		}
		t.Store(rightSlot, moves)
		t.Store(rightMeta, unlatched(0))
		t.Release()
		t.Store(high, narrow)
		t.Release()
		for _, slot := range free {
			t.Store(slot, empty(1))
		}
		t.Release()
		t.Store(meta, unlatched(1))
		return done
	}
}

// held are the values that the key has at the end, at the left and at the right.
func held(places []int) (values []int) {
	for slot := range slots {
		if keyOf(places[slot]) == key {
			values = append(values, places[slot]%1000)
		}
	}
	if len(places) > rightSlot && keyOf(places[rightSlot]) == key {
		values = append(values, places[rightSlot]%1000)
	}
	return values
}

// once requires that the key is there as often as what was done to it says, and never twice.
func once(before int) func(places, returned []int) string {
	return func(places, returned []int) string {
		want := before + count(returned, inserted) - count(returned, deleted)
		if got := len(held(places)); got != want || got > 1 {
			return fmt.Sprintf("the key is there %d times, and should be %d times", got, want)
		}
		if places[high] == narrow && len(held(places[:slots])) != 0 {
			return "the key is in the leaf that it is no longer for"
		}
		return ""
	}
}

func count(of []int, what int) (n int) {
	for _, v := range of {
		if v == what {
			n++
		}
	}
	return n
}

// Two insertions of one key while a cleaner marks slots empty one by one, in another order than the key looks at them.
func TestInsertionsWithCleaning(t *testing.T) {
	for first := range slots {
		for _, by := range []proof{oneMeta, oneVersion} {
			m := Model{
				Places:  []int{erased, erased, erased, unlatched(0) | latch, wide},
				Threads: []func(*Thread) int{clean(pair(lower, 1), false), insert(1, first, by), insert(2, first, by)},
				Fault:   once(0),
			}
			check(t, m, by == oneMeta)
		}
	}
}

// The cleaner's own pair is of the key that another inserts.
func TestInsertionWithTheCleanersOwn(t *testing.T) {
	holds(t, func(broken bool) Model {
		return Model{
			Places:  []int{erased, erased, erased, unlatched(0) | latch, wide},
			Threads: []func(*Thread) int{clean(pair(key, 1), broken), insert(2, 1, oneVersion)},
			Fault: func(places, returned []int) string {
				if len(held(places)) != 1 {
					return "a key is there twice"
				}
				return ""
			},
		}
	})
}

// Insertions of one key and its deletion in a leaf with room: all look for it from one slot on. Broken, they don't.
func TestInsertionsWithDeletion(t *testing.T) {
	holds(t, func(broken bool) Model {
		other := 0
		if broken {
			other = 1
		}
		return Model{
			Places:  []int{empty(0), empty(0), empty(0), unlatched(0), wide},
			Threads: []func(*Thread) int{insert(1, 0, oneMeta), insert(2, other, oneMeta), remove},
			Fault:   once(0),
		}
	})
}

// full is a leaf without an empty slot, with a pair that a split moves; the new leaf's words are those of a fresh slab.
func full(word int) []int {
	return []int{pair(lower, 1), word, erased, unlatched(0), wide, erased, latch}
}

// An insertion concurrent with a split behind which the key is for the new leaf.
func TestInsertionWithSplit(t *testing.T) {
	for _, by := range []proof{oneMeta, oneView} {
		m := Model{Places: full(pair(filler, 1)), Threads: []func(*Thread) int{split(false), insert(1, 1, by)},
			Fault: once(0)}
		check(t, m, by == oneMeta)
	}
}

// A deletion, or an assignment, concurrent with a split that moves the key: broken, the split doesn't take the pair
// before it copies it.
func TestDeletionWithSplit(t *testing.T) {
	holds(t, func(broken bool) Model {
		return Model{Places: full(pair(key, 1)), Threads: []func(*Thread) int{split(broken), remove}, Fault: once(1)}
	})
}

func TestAssignmentWithSplit(t *testing.T) {
	holds(t, func(broken bool) Model {
		return Model{Places: full(pair(key, 1)), Threads: []func(*Thread) int{split(broken), insert(2, 1, oneMeta)},
			Fault: func(places, returned []int) string {
				values := held(places)
				if len(values) != 1 || returned[1] == assigned && values[0] != 2 || returned[1] == inserted {
					return fmt.Sprintf("values %v", values)
				}
				return ""
			}}
	})
}

// A key that a split moves is there all the time, and so never found absent.
func TestAbsenceWithSplit(t *testing.T) {
	for _, by := range []proof{oneMeta, oneLatch, oneView} {
		m := Model{Places: full(pair(key, 1)), Threads: []func(*Thread) int{split(false), find(by)},
			Fault: func(_, returned []int) string {
				if returned[1] == absent {
					return "the key is said to be absent"
				}
				return ""
			}}
		check(t, m, by == oneMeta)
	}
}

// A word of the tree's says whether values were ever updated in place (BTREE_IN_PLACE_AT).
const inPlace = high + 1

// assign is OP_INSERT of a value for the key that is in slot 0 (leaf_change, leaf_assigned). Broken, it doesn't ask
// whether what overtook it may have been an update in place.
func assign(value int, broken bool) func(*Thread) int {
	return func(t *Thread) int {
		for range 2 {
			expected := t.Load(0)[0]
			for attempt := range 3 {
				before := t.CAS(0, expected, pair(key, value))
				if before == expected {
					return assigned
				}
				if attempt != 0 {
					t.Acquire()
					if broken || t.Load(inPlace)[0] == 0 {
						return assigned
					}
					break
				}
				expected = before
			}
		}
		return pending
	}
}

// add is OP_INSERT_ADD of a value to that of the key in slot 0 (leaf_announce, leaf_change). Broken, it announces
// itself when it is done.
func add(value int, broken bool) func(*Thread) int {
	return func(t *Thread) int {
		if !broken {
			t.Store(inPlace, 1)
			t.Release()
		}
		outcome := pending
		expected := t.Load(0)[0]
		for attempt := 0; attempt < 3 && outcome == pending; attempt++ {
			before := t.CAS(0, expected, expected+value)
			if before == expected {
				outcome = assigned
			}
			expected = before
		}
		if broken {
			t.Store(inPlace, 1)
			t.Release()
		}
		return outcome
	}
}

// Assignments that an addition overtakes: what comes of all is what some order of them leaves. Broken, an assignment
// takes it for done, or the addition tells too late.
func TestAssignmentsWithAdditions(t *testing.T) {
	for _, late := range []bool{false, true} {
		holds(t, func(broken bool) Model {
			return Model{
				Places: []int{pair(key, 1), 0, 0, 0, wide, 0},
				Threads: []func(*Thread) int{
					assign(10, broken && !late), add(100, broken && late), add(200, broken && late),
				},
				Fault: func(places, returned []int) string {
					if count(returned, assigned) != 3 {
						return "" // what is pending is tried again
					}
					switch value := places[0] % 1000; value {
					case 10, 110, 210, 310:
						return ""
					default:
						return fmt.Sprintf("the value is %d", value)
					}
				},
			}
		})
	}
}
