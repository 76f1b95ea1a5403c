package models

import "testing"

// A slab that one structure clears and frees into a pool, and another one allocates and links into a list, which a
// third thread walks. Broken, nothing orders what clears it and what frees it.
func TestSlabThroughASharedPool(t *testing.T) {
	const (
		slab = iota // one word of it
		bitmap
		link

		clear = 0
		own   = 1
		alien = 2 // of the structure that frees
	)
	holds(t, func(broken bool) Model {
		frees := func(t *Thread) int {
			t.Store(slab, clear)
			if !broken {
				t.Release()
			}
			t.Exchange(bitmap, 0)
			return done
		}
		allocates := func(t *Thread) int {
			if t.Or(bitmap, 1) != 0 {
				return pending
			}
			t.Follow(slab, link)
			if t.CAS(link, 0, 1) != 0 {
				return pending
			}
			if t.CAS(slab, clear, own) != clear {
				return alien
			}
			return done
		}
		walks := func(t *Thread) int {
			if t.Load(link)[0] == 0 {
				return pending
			}
			t.Follow(slab)
			return t.Load(slab)[0]
		}
		return Model{Places: []int{alien, 1, 0}, Threads: []func(*Thread) int{
			frees, allocates, walks}, Fault: func(_, returned []int) string {
			if returned[1] == alien || returned[2] == alien {
				return "the slab holds what was another structure's"
			}
			return ""
		}}
	})
}

// A prefix index is made while a node is split, and used by a later dispatch, which sees what the kernel that made it
// has seen. Broken, that one doesn't acquire.
func TestPrefixIndexWithSplit(t *testing.T) {
	const node, child, entry = 0, 1, 2
	holds(t, func(broken bool) Model {
		splits := func(t *Thread) int {
			t.Store(node, 1)
			t.Release()
			t.Store(child, 1)
			return done
		}
		makes := func(t *Thread) int {
			if t.Load(child)[0] == 0 {
				return pending
			}
			if !broken {
				t.Acquire()
			}
			t.Release() // the barrier between the dispatches
			t.Store(entry, 1)
			return done
		}
		begins := func(t *Thread) int {
			if t.Load(entry)[0] == 0 {
				return pending
			}
			t.Acquire()
			if t.Load(node)[0] == 0 {
				return absent
			}
			return found
		}
		return Model{Places: []int{0, 0, 0}, Threads: []func(*Thread) int{
			splits, makes, begins}, Fault: func(_, returned []int) string {
			if returned[2] == absent {
				return "a search begins at a node that isn't written"
			}
			return ""
		}}
	})
}

// A slab of pairs without 64-bit atomics (slab_change.glsl): a key claims its slot, the value is stored, and the bit of
// the auxiliary word says that it is there.
func TestPairWithoutWideAtomics(t *testing.T) {
	const (
		slot = iota
		value
		aux
	)
	for _, broken := range []string{"", "no release", "no acquire", "no look at the bit"} {
		inserts := func(mine int) func(*Thread) int {
			return func(t *Thread) int {
				if t.CAS(slot, 0, key) == 0 {
					t.Store(value, mine)
					if broken != "no release" {
						t.Release()
					}
					t.Exchange(aux, 0)
					return inserted
				}
				if t.Load(aux)[0] != 0 {
					return pending
				}
				t.Acquire()
				t.Exchange(value, mine)
				return assigned
			}
		}
		finds := func(t *Thread) int {
			if t.Load(slot)[0] == 0 {
				return absent
			}
			if broken != "no look at the bit" {
				if t.Load(aux)[0] != 0 {
					return pending
				}
				if broken != "no acquire" {
					t.Acquire()
				}
			}
			return 100 + t.Load(value)[0]
		}
		check(t, Model{Places: []int{0, 0, 1}, Threads: []func(*Thread) int{
			inserts(1), inserts(2), finds}, Fault: func(places, returned []int) string {
			if returned[2] == 100 {
				return "a value is found that nobody brought"
			}
			if count(returned[:2], inserted) != 1 || count(returned[:2], assigned) == 1 && returned[0] == inserted &&
				places[value] != 2 {
				return "an assignment is lost"
			}
			return ""
		}}, broken == "")
	}
}

// A leaf without 64-bit atomics: it is changed under its latch, and who reads it wants one meta, unlatched, in front of
// the slots and behind them. The writer moves a key from a slot to the other.
func TestLeafWithoutWideAtomics(t *testing.T) {
	for _, broken := range []string{"", "one look", "no fence behind the latch", "no fence between"} {
		moves := func(t *Thread) int {
			t.Or(meta, latch)
			if broken != "no fence behind the latch" {
				t.Acquire()
				t.Release()
			}
			t.Store(0, erased)
			t.Store(1, pair(key, 1))
			t.Release()
			t.Store(meta, unlatched(1))
			return done
		}
		finds := func(t *Thread) int {
			before := t.Load(meta)[0]
			if broken != "no fence between" {
				t.Acquire()
			}
			v := t.Load(0, 1)
			if broken != "no fence between" {
				t.Acquire()
			}
			after := before
			if broken != "one look" {
				after = t.Load(meta)[0]
			}
			switch {
			case before != after || before&latch != 0:
				return pending
			case keyOf(v[0]) == key && keyOf(v[1]) == key:
				return pending + 100
			case keyOf(v[0]) == key || keyOf(v[1]) == key:
				return found
			}
			return absent
		}
		check(t, Model{Places: []int{pair(key, 1), erased, erased, unlatched(0)},
			Threads: []func(*Thread) int{moves, finds}, Fault: func(_, returned []int) string {
				if returned[1] != found && returned[1] != pending {
					return "the key is there once, all the time"
				}
				return ""
			}}, broken == "")
	}
}
