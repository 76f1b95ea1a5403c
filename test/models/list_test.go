package models

import "testing"

// The first slab of a list (slab_list.glsl). Two operations insert one key into an empty list: each takes a slab from
// the pool, puts the reference into the list's word, if that is still empty, and then the key into the slab that is the
// list's; who was too late gives its slab back, untouched. A third one deletes the key, and a fourth takes the second
// slab for another list whenever it is free.
func TestFirstSlabOfAList(t *testing.T) {
	const (
		list  = iota // the number of its first slab; 0: none
		bit          // of slab n, bit + n - 1: 1 while it is allocated
		_            //
		slot         // of slab n, slot + n - 1: a place for a key
		other        //

		clear = 0
		alien = key + 1 // the other list's key
		gone  = key + 2 // a tombstone
		dirty = 100     // the outcome where an allocated slab is not clear
	)
	for _, broken := range []string{
		"", "the list's word is stored", "the key goes first", "the loser keeps its slab", "the loser forgets its slab",
	} {
		// first is the list's first slab for an insertion that has found none; 0: the pool is full.
		first := func(t *Thread, mine int) (slab int) {
			if t.Or(bit+mine-1, 1) == 1 {
				return 0
			}
			t.Follow(slot + mine - 1)
			if broken == "the key goes first" && t.CAS(slot+mine-1, clear, key) != clear {
				return 0
			}
			if broken == "the list's word is stored" {
				t.Store(list, mine)
				return mine
			}
			slab = t.CAS(list, 0, mine)
			switch {
			case slab == 0:
				return mine
			case broken == "the loser keeps its slab":
				return mine
			case broken != "the loser forgets its slab":
				t.Exchange(bit+mine-1, 0)
			}
			return slab
		}
		inserts := func(mine int) func(*Thread) int {
			return func(t *Thread) int {
				slab := t.Load(list)[0]
				if slab == 0 {
					if slab = first(t, mine); slab == 0 {
						return pending
					}
				}
				t.Follow(slot + slab - 1)
				if slab == mine && broken == "the key goes first" {
					return inserted
				}
				switch t.CAS(slot+slab-1, clear, key) {
				case clear:
					return inserted
				case key:
					return found
				}
				return pending // the next slot's turn
			}
		}
		deletes := func(t *Thread) int {
			slab := t.Load(list)[0]
			if slab == 0 {
				return absent
			}
			t.Follow(slot + slab - 1)
			if t.CAS(slot+slab-1, key, gone) != key {
				return absent
			}
			return deleted
		}
		takes := func(t *Thread) int {
			if t.Or(bit+1, 1) == 1 {
				return pending
			}
			t.Follow(other)
			if t.CAS(other, clear, alien) != clear {
				return dirty
			}
			return done
		}
		check(t, Model{Places: []int{0, 0, 0, clear, clear}, Threads: []func(*Thread) int{
			inserts(1), inserts(2), deletes, takes}, Fault: func(places, returned []int) string {
			there := 0
			if first := places[list]; first != 0 && places[slot+first-1] == key {
				there = 1
			}
			owned := [2]bool{places[list] == 1, places[list] == 2 || returned[3] == done}
			switch {
			case returned[3] == dirty || returned[3] == done && places[other] != alien:
				return "a slab that was given back is not clear, or has two owners"
			case count(returned, inserted)-count(returned, deleted) != there:
				return "a key is lost, or there twice"
			case count(returned, found) != 0 && count(returned, inserted) == 0:
				return "a key is found that nobody inserted"
			case owned != [2]bool{places[bit] == 1, places[bit+1] == 1}:
				return "a slab is nobody's and not free, or somebody's and free"
			}
			return ""
		}}, broken == "")
	}
}
