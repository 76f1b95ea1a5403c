package models

import "testing"

// The word that refers to a slab near the end of a bucket's list (slab_hash_tail of slab_hash.glsl). Slabs have one
// slot, and the base slab is full. Three operations append a value each. Who finds a slab full with none behind it
// links a slab of its own and notes it in the word; if somebody was faster, it gives its slab back. One of the
// operations has a budget of one visit, and another one skips to where the word leads: at once, or after a visit, when
// the word may lead back.
func TestTailOfABucket(t *testing.T) {
	const (
		next = 0 // of slab n, next + n: the number of the one behind it; 0: none. The base slab is slab 0.
		slot = 4 // of slab n from 1 on, slot + n - 1: a value, 0: free
		tail = 7 // 0: none is known
		back = 8 // bit n: slab n was given back
	)
	for _, broken := range []string{
		"", "the loser notes its slab", "it is noted before it is linked", "it is linked behind a free slot",
	} {
		// link returns the slab behind another one, which may be the caller's.
		link := func(t *Thread, slab, mine int) int {
			if broken == "it is noted before it is linked" {
				t.Store(tail, mine)
			}
			behind := t.CAS(next+slab, 0, mine)
			if behind == 0 || broken == "the loser notes its slab" {
				t.Store(tail, mine)
			}
			if behind == 0 {
				return mine
			}
			t.Or(back, 1<<mine)
			return behind
		}
		const never = -1
		appends := func(mine, visits, skips int) func(*Thread) int {
			return func(t *Thread) int {
				slab, has := 0, true
				for visit := range visits {
					if visit == skips {
						if last := t.Load(tail)[0]; last != 0 {
							slab = last
							t.Follow(next+slab, slot+slab-1)
						}
					}
					looks := slab != 0 && (broken != "it is linked behind a free slot" || slab == mine)
					if looks && t.CAS(slot+slab-1, 0, mine) == 0 {
						return inserted
					}
					behind := t.Load(next + slab)[0]
					if behind == 0 {
						if !has {
							return pending
						}
						behind, has = link(t, slab, mine), false
					}
					slab = behind
					t.Follow(next+slab, slot+slab-1)
				}
				return pending
			}
		}
		fault := func(places, returned []int) string {
			there, free, known := 0, false, places[tail] == 0
			for slab := places[next]; slab != 0; slab = places[next+slab] {
				known = known || slab == places[tail]
				switch {
				case places[back]>>slab&1 != 0:
					return "a slab is in the list that was given back"
				case places[slot+slab-1] == 0:
					free = true
				case free:
					return "a slot is free before the last one that is not"
				default:
					there++
				}
			}
			switch {
			case !known:
				return "the word leads out of the list"
			case there != count(returned, inserted):
				return "a value is lost"
			}
			return ""
		}
		for _, skips := range []int{0, 1} {
			check(t, Model{Places: make([]int, 9), Fault: fault, Threads: []func(*Thread) int{
				appends(1, 1, never), appends(2, 3, never), appends(3, 3, skips)}}, broken == "")
		}
	}
}
