package models

import "testing"

// The protocol of structures/combine for a call whose context ends: between its caller, who may leave and use its
// slices for something else, and the worker that copies its operations, does them and writes its results.
func TestLeavingACombinedCall(t *testing.T) {
	type fault int
	const (
		none fault = iota
		leavesUnseen
		leavesWhileCopied
		answersUnseen
	)
	for _, broken := range []fault{leavesUnseen, leavesWhileCopied, answersUnseen} {
		holds(t, func(isBroken bool) Model {
			if isBroken {
				return combinedCall(broken == leavesUnseen, broken == leavesWhileCopied, broken == answersUnseen)
			}
			return combinedCall(false, false, false)
		})
	}
}

func combinedCall(leavesUnseen, leavesWhileCopied, answersUnseen bool) Model {
	const state, slices, applied, result, done = 0, 1, 2, 3, 4
	const waiting, gathering, running, answering, left = 0, 1, 2, 3, 4
	const pending, unknown, answered, undecided = 1, 2, 3, 4 // what the caller returns; the last one: it still waits
	const touched = 9                                        // the worker used slices that are the caller's again
	now := func(t *Thread, place int) int { return t.Or(place, 0) }
	caller := func(t *Thread) int {
		leave := func(from, returned int) (int, bool) {
			if leavesUnseen {
				t.Exchange(state, left)
			} else if t.CAS(state, from, left) != from {
				return 0, false
			}
			t.Exchange(slices, 1) // something else
			return returned, true
		}
		for range 4 {
			switch s := now(t, state); {
			case s == waiting:
				if returned, is := leave(waiting, pending); is {
					return returned
				}
			case s == running, s == gathering && leavesWhileCopied:
				if returned, is := leave(s, unknown); is {
					return returned
				}
			case s == answering && now(t, done) == 1:
				if now(t, result) == 0 {
					return touched
				}
				return answered
			}
		}
		return undecided
	}
	worker := func(t *Thread) int {
		if t.CAS(state, waiting, gathering) != waiting {
			return 0
		}
		if now(t, slices) == 1 {
			return touched
		}
		if t.CAS(state, gathering, running) != gathering && !leavesUnseen && !leavesWhileCopied {
			return touched
		}
		t.Exchange(applied, 1)
		if answersUnseen {
			t.Exchange(state, answering)
		} else if t.CAS(state, running, answering) != running {
			return 0
		}
		if now(t, slices) == 1 {
			return touched
		}
		t.Exchange(result, 1)
		t.Exchange(done, 1)
		return 0
	}
	return Model{
		Places: []int{waiting, 0, 0, 0, 0}, Threads: []func(*Thread) int{caller, worker},
		Fault: func(places, returned []int) string {
			switch {
			case returned[1] == touched:
				return "the worker uses slices whose owner has left"
			case returned[0] == touched:
				return "the caller is answered without results"
			case returned[0] == pending && places[applied] == 1:
				return "an operation takes effect whose caller was told that it did nothing"
			}
			return ""
		},
	}
}
