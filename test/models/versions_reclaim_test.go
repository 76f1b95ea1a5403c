package models

import (
	"fmt"
	"testing"
)

// Slabs of versions that nobody needs any more go back to the pool inside a dispatch, by timestamps; epoch_test.go has
// the protocol that is built, by epochs, for which what is retired needs no timestamp. Here the clock that
// snapshots are taken by is the epoch. A version is needed by snapshots before its end, the timestamp of what came
// behind it, and is retired with that as soon as it is made. Who wants a snapshot first announces a time that the
// clock has shown, then takes the snapshot, and when it has read takes the announcement back. Who frees writes the
// clock back, as a change does, and then reads the announcements: the time of a snapshot that it doesn't see announced
// is not before what the clock showed. What ended by the least time that is announced is freed.
type reclaimed struct {
	broken string
}

const (
	// The clock is place 0.
	retiredTime = iota + 1 // of the leaf
	retiredOlder
	retiredValue
	retiredVersion // the slab of a version
	retiredEnd     // the version's, when it is retired
	retiredBit     // the pool's, of the slab
	announced      // 0: nothing; a time, and 1 more

	oldValue, newValue, alienValue = 3, 4, 5
)

// reads announces, takes a snapshot and reads the leaf at it, and so a second time.
func (r reclaimed) reads(times int) func(*Thread) int {
	return func(t *Thread) (all int) {
		for range times {
			all = 10*all + r.readsOnce(t)
		}
		return all
	}
}

func (r reclaimed) readsOnce(t *Thread) int {
	if r.broken != "announced behind the snapshot" {
		t.Store(announced, t.Load(clock)[0]+1)
		if r.broken != "no fence behind the announcement" {
			t.Release()
		}
	}
	snapshot := t.Add(clock, 1)
	if r.broken == "announced behind the snapshot" {
		t.Store(announced, snapshot+1)
		t.Release()
	}
	value := r.at(t, snapshot)
	t.Release()
	t.Store(announced, 0)
	return value
}

// at is what the leaf held at a snapshot (versionedLeaf.read).
func (r reclaimed) at(t *Thread, snapshot int) int {
	v := t.Load(retiredTime, retiredValue)
	for {
		if r.broken == "taken back before it has read" {
			t.Store(announced, 0)
		}
		t.Acquire()
		again := t.Load(retiredTime, retiredOlder)
		if v[0] > snapshot {
			t.Follow(again[1])
			return t.Load(again[1])[0]
		}
		if again[0] <= snapshot {
			return v[1]
		}
		v[0] = again[0]
	}
}

// changes copies the leaf, and retires the version.
func (r reclaimed) changes(t *Thread) int {
	now := t.Add(clock, 0)
	t.Store(retiredVersion, oldValue)
	t.Release()
	t.Store(retiredOlder, retiredVersion)
	t.Release()
	t.Store(retiredTime, now)
	t.Release()
	t.Store(retiredValue, newValue)
	t.Store(retiredEnd, now)
	return done
}

// frees the version, if it may; another structure takes the slab then.
func (r reclaimed) frees(t *Thread) int {
	end := t.Load(retiredEnd)[0]
	if end == 0 {
		return pending
	}
	a := 0
	if r.broken == "the clock behind the announcements" {
		a = t.Load(announced)[0]
	}
	switch r.broken {
	case "the clock is loaded":
		t.Load(clock)
	case "the clock is not asked":
	default:
		t.Add(clock, 0)
	}
	if r.broken != "no fence behind the clock" {
		t.Acquire()
	}
	if r.broken != "the clock behind the announcements" {
		a = t.Load(announced)[0]
	}
	least := a - 1
	if r.broken == "freed a time early" {
		least++
	}
	if a != 0 && least < end && r.broken != "nobody asks" {
		return pending // tried again later, or by the host when the dispatch has ended
	}
	t.Acquire()
	t.Release()
	t.Exchange(retiredBit, 0)
	if t.Or(retiredBit, 1) == 0 {
		t.Store(retiredVersion, alienValue)
	}
	return done
}

func TestReclamationInADispatch(t *testing.T) {
	for _, broken := range []string{
		"", "announced behind the snapshot", "no fence behind the announcement", "taken back before it has read",
		"the clock is loaded", "the clock is not asked", "the clock behind the announcements",
		"no fence behind the clock", "nobody asks", "freed a time early",
	} {
		for times := 1; times <= 2; times++ {
			if times == 2 && broken != "" {
				continue
			}
			t.Run(fmt.Sprint(broken, times), func(t *testing.T) {
				r := reclaimed{broken}
				freed := false
				m := Model{
					Places:  []int{2, 1, 0, oldValue, 0, 0, 1, 0},
					Threads: []func(*Thread) int{r.reads(times), r.changes, r.frees},
					Fault: func(_, returned []int) string {
						freed = freed || returned[2] == done
						for all := returned[0]; all != 0; all /= 10 {
							if is := all % 10; is != oldValue && is != newValue {
								return "a reader meets what is another structure's by now"
							}
						}
						return ""
					},
				}
				check(t, m, broken == "")
				if broken == "" && !freed {
					t.Error("nothing is ever freed")
				}
			})
		}
	}
}

// What the host gives back between dispatches, and beside queries on snapshots. Two leaves were one, and have a version
// in common that a snapshot alone needed which is closed by now; behind it is one that an older snapshot needs. When
// the closed one's last query is over, a pass leads both leaves past the version, and then frees it. Queries that are
// submitted later wait for the former, and the latter waits for those on any snapshot that were submitted before. So
// who is stuck holds back slabs, and nobody else.
type pruned struct {
	broken string
}

const (
	leftOlder  = iota // the references of the leaves, whose time is 3
	rightOlder        //
	middle            // the version of the time 2 that is to go: version(), or another structure's
	middleBit         // the pool's
	host              // what the host knows, a bit each
	past              // the leaves lead past the version
	over              // a bit a query

	closedBit, prunedBit = 4, 8 // of the host's
	behindMiddle         = 9    // the version behind
)

// queries is a query of a number on a snapshot, by a leaf: the time of the version that it reads.
func (p pruned) queries(number, snapshot, leaf int) func(*Thread) int {
	return func(t *Thread) int {
		known := t.Or(host, 1<<number)
		if snapshot == 2 && known&closedBit != 0 && p.broken != "closed snapshots are read" {
			return pending // an error
		}
		if known&prunedBit != 0 && p.broken != "later queries don't wait" {
			if t.Load(past)[0] == 0 {
				return pending // it waits
			}
			t.Acquire()
		}
		at, time := t.Load(leaf)[0], 1
		if at == middle {
			t.Follow(middle)
			v := t.Load(middle)[0]
			if v == alienValue {
				return v
			}
			if v/100%10 <= snapshot {
				time = v / 100 % 10
			}
		}
		t.Release()
		t.Or(over, 1<<number)
		return 10 + time
	}
}

// prunes closes the snapshot of the time 2, and gives back what it alone needed.
func (p pruned) prunes(t *Thread) int {
	if p.broken != "pruned while it is open" {
		t.Or(host, closedBit)
	}
	ended := t.Load(over)[0]
	if t.Load(host)[0]&2 != 0 && ended&2 == 0 && p.broken != "pruned though it is read" {
		return pending // the next pass does it
	}
	before := t.Or(host, prunedBit) & 3
	if p.broken != "nobody is led past" {
		t.Store(leftOlder, behindMiddle)
	}
	if p.broken != "nobody is led past" && p.broken != "one of two is led past" {
		t.Store(rightOlder, behindMiddle)
	}
	t.Release()
	t.Store(past, 1)
	if t.Load(over)[0]&before != before && p.broken != "queries under way are not waited for" {
		return pending // it waits, and may be for ever
	}
	t.Acquire()
	t.Release()
	t.Exchange(middleBit, 0)
	if t.Or(middleBit, 1) == 0 {
		t.Store(middle, alienValue)
	}
	return done
}

func TestReclamationByTheHost(t *testing.T) {
	for _, broken := range []string{
		"", "closed snapshots are read", "later queries don't wait", "pruned while it is open", "nobody is led past",
		"one of two is led past", "queries under way are not waited for", "pruned though it is read",
	} {
		t.Run(broken, func(t *testing.T) {
			p := pruned{broken}
			freed := false
			check(t, Model{
				Places:  []int{middle, middle, version(0, 2, behindMiddle), 1, 0, 0, 0},
				Threads: []func(*Thread) int{p.queries(0, 1, rightOlder), p.queries(1, 2, leftOlder), p.prunes},
				Fault: func(_, returned []int) string {
					freed = freed || returned[2] == done
					for i, got := range returned[:2] {
						if want := 10 + 1 + i; got != pending && got != want {
							return fmt.Sprintf("a query on snapshot %d reads %d, not %d", i+1, got, want)
						}
					}
					return ""
				},
			}, broken == "")
			if broken == "" && !freed {
				t.Error("nothing is ever freed")
			}
		})
	}
}

// A pass that leads a leaf past a version changes the leaf: it and a dispatch of updates wait for each other. Broken,
// it is at work while the leaf is copied, and the snapshot that the copy was for loses it.
func TestReclamationWithUpdate(t *testing.T) {
	const (
		time   = iota
		older  // behind the version that is to go, which is at place 9
		copied // a version, 0 before it is made
		turn   // whose it is: the pass's, then the update's
		toGo   = 9
		stays  = 8
	)
	holds(t, func(broken bool) Model {
		passes := func(t *Thread) int {
			if t.Load(older)[0] == toGo {
				t.Store(older, stays)
			}
			t.Release()
			t.Store(turn, 1)
			return done
		}
		updates := func(t *Thread) int {
			if !broken {
				if t.Load(turn)[0] == 0 {
					return pending
				}
				t.Acquire()
			}
			t.Store(copied, version(0, 2, t.Load(older)[0]))
			t.Release()
			t.Store(older, copied)
			t.Release()
			t.Store(time, 3)
			return done
		}
		return Model{Places: []int{2, toGo, 0, 0}, Threads: []func(*Thread) int{passes, updates},
			Fault: func(places, returned []int) string {
				switch {
				case returned[1] == done && places[older] != copied:
					return "the copy is lost"
				case returned[1] == done && places[copied]%100 != stays:
					return "the version that is to go is still in the way"
				}
				return ""
			}}
	})
}
