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
// of them gives up. A worker's batch has ended, and it takes what waits, or the dictionary is closed.
func TestQueueOfCombinedCalls(t *testing.T) {
	check(t, combinedQueue(sound, false), true)
	check(t, combinedQueue(sound, true), true)
	for _, broken := range []queueFault{expectsLate, looksEarly, leavesUncollected} {
		check(t, combinedQueue(broken, false), false)
	}
	check(t, combinedQueue(countsOnly, true), false)
}

type queueFault int

const (
	sound queueFault = iota
	expectsLate
	looksEarly
	leavesUncollected
	countsOnly // sees no call that waits if the count is too small
)

func combinedQueue(broken queueFault, closes bool) Model {
	// Calls are bits. blocked: a thread waits for the lock; there are other orders in which it gets it.
	const pushed, collected, operations, enough, lock, served, closed = 0, 1, 2, 3, 4, 5, 6
	const never, always, blocked = 9, -9, 1
	now := func(t *Thread, place int) int { return t.Or(place, 0) }
	collect := func(t *Thread) { t.Or(collected, t.Exchange(pushed, 0)) }
	waits := func(t *Thread) bool {
		if broken == countsOnly {
			return now(t, operations) > 0
		}
		return now(t, collected) != 0 || now(t, pushed) != 0
	}
	// idle is the end of a batch, and of those of the calls that waited then.
	idle := func(t *Thread) {
		least := 1
		if now(t, closed) == 1 {
			least = always
		}
		for range 4 {
			early := broken == expectsLate && waits(t)
			t.Exchange(enough, least)
			if broken == expectsLate && !early || broken != expectsLate && !waits(t) {
				return
			}
			t.Exchange(enough, never)
			collect(t)
			calls := t.Exchange(collected, 0)
			t.Add(operations, -(calls&1 + calls>>1&1 + calls>>2))
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
	withdraw := func(t *Thread, call int) {
		collect(t)
		if calls := now(t, collected); calls&call != 0 {
			t.Exchange(collected, calls&^call)
			t.Add(operations, -1)
			t.Or(served, call) // its caller has an error
		}
	}
	push := func(t *Thread, call int) int {
		least := 0
		if broken == looksEarly {
			least = now(t, enough)
		}
		t.Or(pushed, call)
		n := t.Add(operations, 1) + 1
		if broken != looksEarly {
			least = now(t, enough)
		}
		if n < least {
			return 0
		}
		return locked(t, func(t *Thread) {
			if now(t, closed) == 1 {
				withdraw(t, call)
				return
			}
			idle(t)
		})
	}
	leave := func(t *Thread) {
		if broken == leavesUncollected {
			t.Exchange(pushed, now(t, pushed)&^1)
			t.Add(operations, -1)
			return
		}
		withdraw(t, 1)
	}
	return Model{
		// One call waits already.
		Places: []int{4, 0, 1, never, 0, 0, 0}, Threads: []func(*Thread) int{
			func(t *Thread) int { return push(t, 1) | locked(t, leave) },
			func(t *Thread) int { return push(t, 2) },
			func(t *Thread) int {
				return locked(t, func(t *Thread) {
					if closes {
						t.Exchange(closed, 1)
					}
					idle(t)
				})
			},
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
