package models

import (
	"fmt"
	"testing"

	"github.com/vkds/vkds/test/stress"
)

// Snapshots that are taken while a dispatch changes the tree, by it or by others. Who takes one adds to a clock in
// memory: the snapshot is of the time that the clock showed, and what is changed from then on has a later one. Who
// changes a leaf latches it first, and then reads the clock, by an atomic that writes it back: so each snapshot is
// taken before or behind that. Is it behind, then its reader sees the latch, or what came of the change. Is it before,
// then the leaf is copied, unless its timestamp is the clock's. So the moment of reading the clock is that of the
// change, for all who read: they want one meta, unlatched, in front of what they read and behind it, unless the
// timestamp leads them to a version. What is so of each leaf is so of all: a range at a snapshot is what there was at
// one moment.
//
// Where a leaf was not changed since before the clock's first time (idle), a change at that time copies nothing, and
// leaves the timestamp: no snapshot is between the two.
type clockedLeaf struct {
	broken string
	idle   bool
}

const (
	clock = iota
	clockedMeta
	clockedTime
	clockedValue // a bit for each change that was made
	clockedOlder
	clockedCopy // where each thread copies to

	clockBegins = 1
	unread      = 8     // instead of a value: it couldn't be read
	never       = 9     // a time that doesn't come
	timesBase   = 10    // of outcomes: behind the time
	seenBase    = 16    // of what was seen: behind what was seen before
	takenBase   = 10000 // of what was seen: behind the snapshot's time
)

// changes adds a bit to the leaf, copied to a version if a snapshot was taken since it was changed: its outcome, and
// when it was.
func (l clockedLeaf) changes(t *Thread, bit, to int) int {
	now, held := 0, 0
	reads := func() {
		if l.broken == "the clock is loaded" {
			now = t.Load(clock)[0]
		} else {
			now = t.Add(clock, 0)
		}
	}
	if l.broken == "the clock before the latch" {
		reads()
	}
	if l.broken != "without the latch" {
		if held = t.Or(clockedMeta, latch); held&latch != 0 {
			return pending
		}
		t.Acquire()
	}
	if l.broken != "no fence between the latch and the clock" {
		t.Release()
	}
	if l.broken != "the clock before the latch" {
		reads()
	}
	v := t.Load(clockedTime, clockedValue, clockedOlder)
	copies := v[0] < now && !(l.idle && now == clockBegins)
	if copies && l.broken != "the leaf is not copied" {
		t.Store(to, version(v[1], v[0], v[2]))
		t.Release()
		t.Store(clockedOlder, to)
		t.Release()
		t.Store(clockedTime, now)
		t.Release()
	}
	if l.broken == "without the latch" {
		t.Add(clockedValue, bit)
	} else {
		t.Store(clockedValue, v[1]+bit)
		t.Release()
		t.Store(clockedMeta, held+unlatched(1))
	}
	return done + timesBase*now
}

// reads brings what the leaf held at a snapshot, or (never) what it holds.
func (l clockedLeaf) reads(t *Thread, snapshot int) int {
	for range 2 {
		before := t.Load(clockedMeta)[0]
		t.Acquire()
		first := []int{clockedTime, clockedValue}
		if l.broken == "the first version" {
			first = append(first, clockedOlder)
		}
		v := t.Load(first...)
		t.Acquire()
		again := t.Load(clockedMeta, clockedOlder)
		stands := again[0] == before && before&latch == 0 || l.broken == "the latch is not asked"
		if v[0] > snapshot {
			older := again[1]
			if len(v) > 2 {
				older = v[2]
			}
			return l.follow(t, older, snapshot)
		}
		if stands {
			return v[1]
		}
		t.Acquire()
	}
	return unread
}

func (l clockedLeaf) follow(t *Thread, older, snapshot int) int {
	for attempt := 0; attempt < 3 && older != 0; attempt++ {
		t.Follow(older)
		v := t.Load(older)[0]
		if v/100%10 <= snapshot {
			return v / 1000
		}
		older = v % 100
	}
	return unread
}

// takes is a snapshot. It needs no fence: a leaf is looked at again behind one.
func (l clockedLeaf) takes(t *Thread) (snapshot int) {
	if l.broken == "the clock stands still" {
		return t.Add(clock, 0)
	}
	return t.Add(clock, 1)
}

// sees is a thread that reads the leaf so many times at a snapshot of its own.
func (l clockedLeaf) sees(times int) func(*Thread) int {
	return func(t *Thread) int {
		snapshot := l.takes(t)
		all := 0
		for range times {
			all = seenBase*all + l.reads(t, snapshot)
		}
		return takenBase*snapshot + all
	}
}

// exactly says what is wrong with what was seen at a snapshot: it is to be what was changed up to its time.
func exactly(all, times int, changes []int) string {
	snapshot, want := all/takenBase, 0
	for i, outcome := range changes {
		if outcome%timesBase == done && outcome/timesBase <= snapshot {
			want |= 1 << i
		}
	}
	for seen := all % takenBase; times > 0; times-- {
		if is := seen % seenBase; is != unread && is != want {
			return fmt.Sprintf("what was seen at %d is %d, not %d", snapshot, is, want)
		}
		seen /= seenBase
	}
	return ""
}

func TestClock(t *testing.T) {
	for _, c := range []struct {
		changes int
		idle    bool
		held    bool  // a snapshot of the host's is open: what is changed at the clock's first time is copied, too
		reads   []int // how often each reader reads
		broken  []string
	}{
		{1, false, false, []int{2}, []string{
			"the clock before the latch", "the clock is loaded", "the clock stands still", "the latch is not asked",
			"no fence between the latch and the clock", "without the latch",
		}},
		{2, false, false, []int{1}, []string{"the clock is loaded", "no fence between the latch and the clock"}},
		{1, true, false, []int{2}, []string{"the leaf is not copied"}},
		{2, true, false, []int{1}, nil},
		{2, false, true, []int{1}, []string{"the first version"}},
		{1, false, false, []int{1, 1}, nil},
	} {
		if len(c.reads) > 1 && stress.Level == 0 {
			continue // two seconds
		}
		for _, broken := range append([]string{""}, c.broken...) {
			t.Run(fmt.Sprint(c.changes, c.idle, c.held, c.reads, " ", broken), func(t *testing.T) {
				l := clockedLeaf{broken, c.idle}
				since := clockBegins
				if c.idle || c.held {
					since--
				}
				m := Model{Places: []int{clockBegins, unlatched(0), since, 0, 0, 0, 0}}
				for i := range c.changes {
					m.Threads = append(m.Threads, func(t *Thread) int { return l.changes(t, 1<<i, clockedCopy+i) })
				}
				for _, times := range c.reads {
					m.Threads = append(m.Threads, l.sees(times))
				}
				m.Fault = func(places, returned []int) string {
					for i, times := range c.reads {
						all := returned[c.changes+i]
						if what := exactly(all, times, returned[:c.changes]); what != "" {
							return what
						}
					}
					return ""
				}
				check(t, m, broken == "")
			})
		}
	}
}

// What a thread has found or changed is in the snapshot that it takes behind that, and what it finds behind a snapshot
// has all that is in it.
func TestClockWithFinds(t *testing.T) {
	l := clockedLeaf{}
	changes := func(t *Thread) int { return l.changes(t, 1, clockedCopy) }
	found := func(before, behind func(*Thread) int) func(*Thread) int {
		return func(t *Thread) int { return seenBase*before(t) + behind(t) }
	}
	finds := func(t *Thread) int { return l.reads(t, never) }
	reads := func(t *Thread) int { return l.reads(t, l.takes(t)) }
	own := func(t *Thread) int {
		if l.changes(t, 2, clockedCopy+1)%timesBase != done {
			return 0
		}
		return 2
	}
	for _, thread := range []func(*Thread) int{found(finds, reads), found(reads, finds), found(own, reads)} {
		m := Model{Places: []int{clockBegins, unlatched(0), clockBegins, 0, 0, 0, 0},
			Threads: []func(*Thread) int{changes, thread}}
		m.Fault = func(_, returned []int) string {
			before, behind := returned[1]/seenBase, returned[1]%seenBase
			if before != unread && behind != unread && before&^behind != 0 {
				return fmt.Sprintf("%d is there, and then %d", before, behind)
			}
			return ""
		}
		check(t, m, true)
	}
}

// A leaf that is split under a moving clock, by an insertion that brings a pair of its own into the new leaf: it is
// reached before the old one is unlatched. The key is there all the time, and the own pair as of the split's time.
type clockedSplit struct {
	broken string
}

const (
	// The clock, the meta and the time are where a leaf has them.
	clockedSlot      = iota + clockedTime + 1 // 1 while the key is in it
	clockedHigh                               // wide, or narrow: then the link leads to the new leaf
	clockedBefore                             // the version: 1, the key
	clockedRight                              // the new leaf: 1, the key, and 2, the own pair
	clockedRightTime                          //
	clockedChild                              // of an inner node: 1 when it knows the new leaf

	withOwn = 3
)

func (l clockedSplit) splits(t *Thread) int {
	if t.Or(clockedMeta, latch)&latch != 0 {
		return pending
	}
	t.Acquire()
	t.Release()
	now := t.Add(clock, 0)
	time := t.Load(clockedTime)[0]
	if time < now && l.broken != "the leaf is not copied" {
		t.Store(clockedBefore, 1)
		t.Release()
		t.Store(clockedTime, now)
		t.Release()
	}
	t.Store(clockedRight, withOwn)
	if l.broken == "the new leaf has the old time" {
		t.Store(clockedRightTime, time)
	} else {
		t.Store(clockedRightTime, now)
	}
	t.Release()
	t.Store(clockedHigh, narrow)
	t.Release()
	t.Store(clockedSlot, 0)
	t.Release()
	t.Store(clockedMeta, unlatched(1))
	t.Release()
	t.Store(clockedChild, 1)
	return done + timesBase*now
}

func (l clockedSplit) sees(t *Thread) int {
	snapshot := t.Add(clock, 1)
	child := t.Load(clockedChild)[0]
	t.Follow(clockedRight, clockedRightTime)
	is, right := unread, child == 1
	for attempt := 0; attempt < 2 && !right && is == unread; attempt++ {
		before := t.Load(clockedMeta)[0]
		t.Acquire()
		v := t.Load(clockedTime, clockedSlot, clockedHigh)
		t.Acquire()
		again := t.Load(clockedMeta)
		stands := again[0] == before && before&latch == 0 || l.broken == "the latch is not asked"
		switch {
		case v[0] > snapshot:
			is = t.Load(clockedBefore)[0]
		case stands && v[2] < key:
			right = true
		case stands:
			is = v[1]
		}
		t.Acquire()
	}
	if right {
		v := t.Load(clockedRight, clockedRightTime)
		is = v[0]
		if v[1] > snapshot {
			t.Acquire()
			is = t.Load(clockedBefore)[0]
		}
	}
	return takenBase*snapshot + is
}

func TestClockWithSplit(t *testing.T) {
	for _, broken := range []string{
		"", "the leaf is not copied", "the new leaf has the old time", "the latch is not asked",
	} {
		t.Run(broken, func(t *testing.T) {
			l := clockedSplit{broken}
			threads := []func(*Thread) int{l.splits, l.sees}
			if stress.Level > 0 {
				threads = append(threads, l.sees) // ten seconds
			}
			check(t, Model{
				Places:  []int{clockBegins, unlatched(0), clockBegins, 1, wide, 0, 0, 0, 0},
				Threads: threads,
				Fault: func(_, returned []int) string {
					for _, all := range returned[1:] {
						snapshot, is, want := all/takenBase, all%takenBase, 1
						if returned[0]%timesBase == done && returned[0]/timesBase <= snapshot {
							want = withOwn
						}
						if is != unread && is != want {
							return fmt.Sprintf("what was seen at %d is %d, not %d", snapshot, is, want)
						}
					}
					return ""
				},
			}, broken == "")
		})
	}
}

// A leaf that is split, and then changed. A reader whose snapshot is between the two finds the version of the left leaf
// from which the key was taken: so it has to see the high that the split published, and does if it looks at the header
// once more behind the timestamp.
type clockedHeader struct {
	broken string
}

const (
	// The clock, the meta and the time are where a leaf has them.
	headerSlot  = iota + clockedTime + 1 // 1 while the key is in it
	headerHigh                           // wide, or narrow: then the key is in the new leaf
	headerOlder                          // the version
	headerCopy                           // where the two changes copy to
)

// keeps copies the latched leaf, and is left with the time of the change.
func (l clockedHeader) keeps(t *Thread, to int) {
	t.Acquire()
	t.Release()
	now := t.Add(clock, 0)
	v := t.Load(clockedTime, headerSlot, headerOlder)
	if v[0] < now {
		t.Store(to, version(v[1], v[0], v[2]))
		t.Release()
		t.Store(headerOlder, to)
		t.Release()
		t.Store(clockedTime, now)
		t.Release()
	}
}

func (l clockedHeader) splitsAndChanges(t *Thread) int {
	t.Or(clockedMeta, latch)
	l.keeps(t, headerCopy)
	t.Store(headerHigh, narrow)
	t.Release()
	t.Store(headerSlot, 0)
	t.Release()
	t.Store(clockedMeta, unlatched(1))
	t.Or(clockedMeta, latch)
	l.keeps(t, headerCopy+1)
	t.Store(clockedMeta, unlatched(2))
	return 0
}

// sees says whether the key is there, in the leaf or (by its high) in the new one.
func (l clockedHeader) sees(t *Thread) int {
	snapshot := t.Add(clock, 1)
	before := t.Load(clockedMeta)[0]
	t.Acquire()
	v := t.Load(clockedTime, headerSlot, headerHigh)
	t.Acquire()
	again := t.Load(clockedMeta, headerOlder, headerHigh)
	high := again[2]
	if l.broken == "the first header" {
		high = v[2]
	}
	switch later := v[0] > snapshot; {
	case later && high < key:
		return 1
	case later:
		return clockedLeaf{}.follow(t, again[1], snapshot)
	case again[0] != before || before&latch != 0:
		return unread
	case v[2] < key:
		return 1
	}
	return v[1]
}

func TestClockWithSplitAndChange(t *testing.T) {
	for _, broken := range []string{"", "the first header"} {
		t.Run(broken, func(t *testing.T) {
			l := clockedHeader{broken}
			check(t, Model{
				Places:  []int{clockBegins, unlatched(0), clockBegins, 1, wide, 0, 0, 0},
				Threads: []func(*Thread) int{l.splitsAndChanges, l.sees},
				Fault: func(_, returned []int) string {
					if is := returned[1]; is != unread && is != 1 {
						return "the key is not seen"
					}
					return ""
				},
			}, broken == "")
		})
	}
}
