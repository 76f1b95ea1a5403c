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

// The queue of structures/combine: callers push a call without a lock, and look whether they should begin a batch. One
// of them gives up. A worker's batch has ended, and it takes what waits.
func TestQueueOfCombinedCalls(t *testing.T) {
	type fault int
	const (
		none fault = iota
		expectsLate
		looksEarly
		leavesUncollected
	)
	for _, broken := range []fault{expectsLate, looksEarly, leavesUncollected} {
		holds(t, func(isBroken bool) Model {
			if isBroken {
				return combinedQueue(broken == expectsLate, broken == looksEarly, broken == leavesUncollected)
			}
			return combinedQueue(false, false, false)
		})
	}
}

func combinedQueue(expectsLate, looksEarly, leavesUncollected bool) Model {
	// Calls are bits. blocked: a thread waits for the lock; there are other orders in which it gets it.
	const pushed, collected, operations, enough, lock, served = 0, 1, 2, 3, 4, 5
	const never, blocked = 9, 1
	now := func(t *Thread, place int) int { return t.Or(place, 0) }
	collect := func(t *Thread) { t.Or(collected, t.Exchange(pushed, 0)) }
	// idle is the end of a batch, and of those of the calls that waited then.
	idle := func(t *Thread) {
		for range 3 {
			n := 0
			if expectsLate {
				n = now(t, operations)
				t.Exchange(enough, 1)
			} else {
				t.Exchange(enough, 1)
				n = now(t, operations)
			}
			if n <= 0 {
				return
			}
			t.Exchange(enough, never)
			collect(t)
			calls := t.Exchange(collected, 0)
			t.Add(operations, -(calls&1 + calls>>1))
			t.Or(served, calls)
		}
	}
	locked := func(t *Thread, do func(t *Thread)) int {
		if t.CAS(lock, 0, 1) != 0 {
			return blocked
		}
		do(t)
		t.Exchange(lock, 0)
		return 0
	}
	push := func(t *Thread, call int) int {
		least := 0
		if looksEarly {
			least = now(t, enough)
		}
		t.Or(pushed, call)
		n := t.Add(operations, 1) + 1
		if !looksEarly {
			least = now(t, enough)
		}
		if n < least {
			return 0
		}
		return locked(t, idle)
	}
	leave := func(t *Thread) {
		if leavesUncollected {
			t.Exchange(pushed, now(t, pushed)&^1)
			t.Add(operations, -1)
			return
		}
		collect(t)
		if calls := now(t, collected); calls&1 != 0 {
			t.Exchange(collected, calls&^1)
			t.Add(operations, -1)
		}
	}
	return Model{
		Places: []int{0, 0, 0, never, 0, 0}, Threads: []func(*Thread) int{
			func(t *Thread) int { return push(t, 1) | locked(t, leave) },
			func(t *Thread) int { return push(t, 2) },
			func(t *Thread) int { return locked(t, idle) },
		},
		Fault: func(places, returned []int) string {
			switch {
			case returned[0]|returned[1]|returned[2] == blocked:
				return ""
			case places[served]&2 == 0:
				return "a call waits, and nobody will take it"
			case places[operations] != 0:
				return "operations are counted that nobody can take"
			}
			return ""
		},
	}
}
