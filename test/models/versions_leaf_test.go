package models

import (
	"fmt"
	"slices"
	"testing"
)

// A leaf of a multiversion B-tree, of two slots, which holds from its timestamp on what is in it; a reference leads to
// what it held before. A dispatch knows the newest snapshot that is open, and its own time behind that: both stand
// still while it runs, and one that has other times begins when it has ended. The first change behind a snapshot copies
// the leaf to a version, under the latch: the version is written, then the reference, then the timestamp, and then the
// leaf is changed as ever. So who reads at a snapshot reads the leaf, and behind a fence the timestamp and the
// reference. Is the timestamp not above the snapshot's, then what was read is what was there; else it is in a version,
// which nobody changes. It never waits, and looks at no latch.
type versionedLeaf struct {
	latched bool // slots change under the latch, too: 16-byte pairs, or no 64-bit atomics
	broken  string
}

const (
	versionedMeta = iota + 2 // behind the slots
	versionedTime
	versionedOlder // a place that is a version, or firstVersion
	versionedCopy  // where each updater copies to
	firstVersion   = 50

	// The leaf holds since time 2 what it holds at first, and has a version from before. The snapshots are 1 and 2.
	leafTime, newest, nowTime = 2, 2, 3

	beforeFirst = 7777 // what the first version holds
	unwritten   = -1
)

// version is all of a version in one word: it is written behind one fence, and read behind one.
func version(content, time, older int) int { return (content*10+time)*100 + older }

func content(slots []int) int { return 10000*slots[0] + slots[1] }

// fence is left out by who is broken so.
func (l versionedLeaf) fence(which string, fences ...func()) {
	for _, f := range fences {
		if l.broken != which {
			f()
		}
	}
}

// copies makes a version of the latched leaf, if it is the first to come, and puts the reference and the timestamp.
func (l versionedLeaf) copies(t *Thread, to, seen int) {
	v := t.Load(0, 1, versionedTime, versionedOlder)
	time := v[2]
	if l.broken == "no second look under the latch" {
		time = seen
	}
	if time > newest {
		return
	}
	steps := []func(){
		func() { t.Store(to, version(content(v), time, v[3])) },
		func() { t.Store(versionedOlder, to) },
		func() { t.Store(versionedTime, nowTime) },
	}
	switch l.broken {
	case "the timestamp before the version":
		steps[0], steps[1], steps[2] = steps[2], steps[0], steps[1]
	case "the timestamp before the reference":
		steps[1], steps[2] = steps[2], steps[1]
	}
	steps[0]()
	l.fence("no fence behind the version", t.Release)
	steps[1]()
	l.fence("no fence behind the reference", t.Release)
	steps[2]()
}

// change makes of a slot's word another one, as insertions, assignments and deletions do.
type change struct{ slot, from, to int }

// does has an updater make its changes, each for itself.
func (l versionedLeaf) does(to int, changes ...change) func(*Thread) int {
	return func(t *Thread) int {
		outcome := 0
		for _, c := range changes {
			if l.latched {
				outcome = 10*outcome + l.changesLatched(t, to, c)
			} else {
				outcome = 10*outcome + l.changes(t, to, c)
			}
		}
		return outcome
	}
}

func (l versionedLeaf) changes(t *Thread, to int, c change) int {
	for range 3 {
		seen := t.Load(versionedTime)[0]
		if seen > newest {
			// Who sees the change is to see the timestamp.
			l.fence("no fence before the change", t.Acquire, t.Release)
			if t.CAS(c.slot, c.from, c.to) == c.from {
				return done
			}
			return pending
		}
		if l.broken != "copied without the latch" && t.Or(versionedMeta, latch)&latch != 0 {
			t.Acquire()
			continue
		}
		t.Acquire()
		t.Release()
		l.copies(t, to, seen)
		t.Release()
		t.Store(versionedMeta, unlatched(0))
	}
	return pending
}

func (l versionedLeaf) changesLatched(t *Thread, to int, c change) int {
	if t.Or(versionedMeta, latch)&latch != 0 {
		return pending
	}
	t.Acquire()
	t.Release()
	l.copies(t, to, leafTime)
	l.fence("no fence before the change", t.Release)
	outcome := pending
	if v := t.Load(c.slot, versionedMeta); v[0] == c.from {
		t.Store(c.slot, c.to)
		outcome = done
	}
	t.Release()
	t.Store(versionedMeta, unlatched(1))
	return outcome
}

// reads brings what the leaf held at a snapshot, looked for so many times.
func (l versionedLeaf) reads(snapshot, times int) func(*Thread) int {
	return func(t *Thread) int {
		got := 0
		for i := range times {
			is := l.read(t, snapshot)
			if i > 0 && is != got {
				return unwritten
			}
			got = is
		}
		return got
	}
}

func (l versionedLeaf) read(t *Thread, snapshot int) int {
	v := t.Load(0, 1, versionedTime, versionedOlder)
	time := v[2]
	for l.broken != "one look" || time > snapshot {
		l.fence("no fence between the looks", t.Acquire)
		again := t.Load(versionedTime, versionedOlder)
		switch {
		case time > snapshot, l.broken == "the reference of the same look" && again[0] > snapshot:
			return l.follow(t, again[1], snapshot)
		case again[0] <= snapshot:
			return content(v)
		}
		time = again[0] // and behind one more fence the reference is at least as new
	}
	return content(v)
}

// follow goes from version to version to that of a snapshot.
func (l versionedLeaf) follow(t *Thread, older, snapshot int) int {
	for range 3 {
		if older == firstVersion {
			return beforeFirst
		}
		t.Follow(older)
		v := t.Load(older)[0]
		if v == 0 {
			return unwritten
		}
		if v/100%10 <= snapshot {
			return v / 1000
		}
		older = v % 100
	}
	return unwritten
}

func (l versionedLeaf) model(slots [2]int, changes [][]change, reads ...func(*Thread) int) Model {
	m := Model{Places: []int{slots[0], slots[1], unlatched(0), leafTime, firstVersion}}
	for i, own := range changes {
		m.Places = append(m.Places, 0)
		m.Threads = append(m.Threads, l.does(versionedCopy+i, own...))
	}
	m.Threads = append(m.Threads, reads...)
	return m
}

// Changes by two threads, as many as may meet in a leaf, and a query at either snapshot.
func TestSnapshotOfALeaf(t *testing.T) {
	room := [2]int{pair(key, 1), empty(0)}
	deletes, assigns := change{0, pair(key, 1), erased}, change{0, pair(key, 1), pair(key, 2)}
	inserts := change{1, empty(0), pair(lower, 1)}
	again := change{0, pair(key, 2), pair(key, 3)}
	for _, c := range []struct {
		changes  [][]change
		snapshot int
		times    int
		broken   []string
		latched  []string // what breaks it if slots change under the latch
	}{
		{[][]change{{inserts}, {deletes}}, newest, 1, []string{
			"one look", "no fence between the looks", "no fence before the change", "no fence behind the reference",
			"the timestamp before the version", "copied without the latch", "no second look under the latch",
		}, []string{
			"one look", "no fence between the looks", "no fence before the change", "no fence behind the reference",
			"the timestamp before the version", "no second look under the latch",
		}},
		{[][]change{{inserts}, {assigns, again}}, newest, 1, []string{
			"the timestamp before the reference", "the reference of the same look",
		}, []string{"the timestamp before the reference", "the reference of the same look"}},
		{[][]change{{assigns}, {deletes}}, newest, 2, nil, nil},
		{[][]change{{inserts}, {deletes}}, newest - 1, 1, []string{"no fence behind the version"}, []string{
			"no fence behind the version"}},
	} {
		for _, latched := range []bool{false, true} {
			breaks := c.broken
			if latched {
				breaks = c.latched
			}
			for _, broken := range append([]string{""}, breaks...) {
				t.Run(fmt.Sprint(c.changes, c.snapshot, " ", latched, " ", broken), func(t *testing.T) {
					l := versionedLeaf{latched, broken}
					m := l.model(room, c.changes, l.reads(c.snapshot, c.times))
					want := beforeFirst
					if c.snapshot == newest {
						want = content(room[:])
					}
					m.Fault = func(places, returned []int) string {
						if got := returned[len(c.changes)]; got != want {
							return fmt.Sprintf("the snapshot has %d, not %d", got, want)
						}
						return l.lost(room, c.changes, places, returned)
					}
					check(t, m, broken == "")
				})
			}
		}
	}
}

// lost says whether the leaf at the end is not what the changes that were done make of it, in some order.
func (l versionedLeaf) lost(slots [2]int, changes [][]change, places, returned []int) string {
	var made func(now [2]int, left [][]change, results [][]int) bool
	made = func(now [2]int, left [][]change, results [][]int) bool {
		over := true
		for i, own := range left {
			if len(own) == 0 {
				continue
			}
			over = false
			next := now
			if results[i][0] == done {
				if now[own[0].slot] != own[0].from {
					continue
				}
				next[own[0].slot] = own[0].to
			}
			l, r := slices.Clone(left), slices.Clone(results)
			l[i], r[i] = own[1:], results[i][1:]
			if made(next, l, r) {
				return true
			}
		}
		return over && now == [2]int{places[0], places[1]}
	}
	results := make([][]int, len(changes))
	for i, own := range changes {
		for all, n := returned[i], len(own); n > 0; n-- {
			results[i] = append([]int{all % 10}, results[i]...)
			all /= 10
		}
	}
	if !made(slots, changes, results) {
		return fmt.Sprintf("a change is lost: %v %v", returned, places)
	}
	return ""
}

// A dispatch that was under way when the snapshot was taken: it takes the leaf for changed since. So one that has the
// next times waits for it, and so does who reads at the snapshot; broken, they don't.
func TestSnapshotBehindADispatch(t *testing.T) {
	room := [2]int{pair(key, 1), empty(0)}
	for _, latched := range []bool{false, true} {
		holds(t, func(broken bool) Model {
			l := versionedLeaf{latched: latched}
			later := []change{{0, pair(key, 1), erased}}
			m := l.model(room, [][]change{later}, l.reads(newest, 2))
			ended := len(m.Places)
			m.Places = append(m.Places, 0)
			for i, thread := range m.Threads {
				m.Threads[i] = func(t *Thread) int {
					if !broken {
						if t.Load(ended)[0] == 0 {
							return pending
						}
						t.Acquire()
					}
					return thread(t)
				}
			}
			m.Threads = append(m.Threads, func(t *Thread) int {
				t.CAS(1, empty(0), pair(lower, 1)) // it has seen the time 2, behind the snapshot of before
				t.Release()
				t.Store(ended, 1)
				return done
			})
			want := 10000*pair(key, 1) + pair(lower, 1)
			m.Fault = func(_, returned []int) string {
				if got := returned[1]; got != pending && got != want {
					return fmt.Sprintf("the snapshot has %d, not %d", got, want)
				}
				return ""
			}
			return m
		})
	}
}
