package models

import (
	"fmt"
	"testing"

	"github.com/vkds/vkds/test/stress"
)

// Snapshots of leaves that split, of which alone there are versions: inner nodes have none, and who reads at a snapshot
// goes down today's. A leaf that is split off takes along the timestamp and the reference of the leaf that it was split
// from, which was copied before, if that was due: so what it held before, when it was a part of that leaf, is found
// from both. A version has the high and the link that the leaf had, and by these a walk at a snapshot goes on. So it
// meets what there was in the order of the keys, and has its place, as any walk, so that nothing comes twice.
type versionedSplit struct {
	copied bool // the leaf was copied before, in this dispatch or an earlier one behind the snapshot
	broken string
}

const (
	splitTime = iota + 2 // behind two slots
	splitOlder
	splitHigh // with the link: narrow leads to the right leaf
	splitVersion
	splitRight // a slot of the right leaf
	splitRightTime
	splitRightOlder
	splitChild // of an inner node, for the key: 0 while it knows of the left leaf alone

	theSnapshot, behindIt = 1, 2
)

// leafAt is what a leaf or a version of it holds: of the lower key and of the key, how often, and its high.
type leafAt struct{ lowers, keys, high int }

func (l leafAt) count(words ...int) leafAt {
	for _, w := range words {
		switch {
		case keyOf(w) == lower:
			l.lowers++
		case w == pair(key, 1):
			l.keys++
		}
	}
	return l
}

func (l versionedSplit) splits(t *Thread) int {
	if t.Load(splitTime)[0] <= theSnapshot && l.broken != "the leaf is not copied" {
		v := t.Load(0, 1, splitHigh)
		t.Store(splitVersion, content(v))
		t.Release()
		t.Store(splitOlder, splitVersion)
		t.Release()
		t.Store(splitTime, behindIt)
		t.Release()
	}
	v := t.Load(splitTime, splitOlder)
	word := t.Exchange(1, erased)
	t.Store(splitRight, word)
	switch l.broken {
	case "the new leaf has no history":
		t.Store(splitRightTime, v[0])
	case "the new leaf is of any time":
		t.Store(splitRightTime, theSnapshot)
	default:
		t.Store(splitRightTime, v[0])
		t.Store(splitRightOlder, v[1])
	}
	t.Release()
	t.Store(splitHigh, narrow)
	t.Release()
	t.Store(1, empty(1))
	t.Release()
	t.Store(splitChild, splitRight)
	return done
}

// removes deletes the key, in the leaf that it is in.
func (l versionedSplit) removes(t *Thread) int {
	for range 2 {
		v := t.Load(1, splitTime, splitHigh)
		slot := 1
		if v[2] < key {
			t.Acquire()
			slot, v = splitRight, t.Load(splitRight, splitRightTime)
		}
		if v[1] <= theSnapshot {
			continue // it would copy the leaf
		}
		t.Acquire()
		t.Release()
		if keyOf(v[0]) == key && t.CAS(slot, v[0], erased) == v[0] {
			return deleted
		}
	}
	return pending
}

// resolve is a leaf as it was at the snapshot.
func (l versionedSplit) resolve(t *Thread, right bool) leafAt {
	places, at, older := []int{0, 1, splitHigh, splitTime}, splitTime, splitOlder
	if right {
		places, at, older = []int{splitRight, splitRightTime}, splitRightTime, splitRightOlder
	}
	v := t.Load(places...)
	time := v[len(v)-1]
	for {
		t.Acquire()
		again := t.Load(at, older)
		switch {
		case time > theSnapshot && again[1] != splitVersion:
			return leafAt{high: wide}
		case time > theSnapshot:
			t.Follow(splitVersion)
			w := t.Load(splitVersion)[0]
			return leafAt{high: wide}.count(w/10000, w%10000)
		case again[0] <= theSnapshot && right:
			return leafAt{high: wide}.count(v[0])
		case again[0] <= theSnapshot:
			return leafAt{high: v[2]}.count(v[0], v[1])
		}
		time = again[0]
	}
}

// finds looks for the key from where the inner node leads.
func (l versionedSplit) finds(t *Thread) int {
	right := t.Load(splitChild)[0] == splitRight
	t.Follow(splitRight, splitRightTime, splitRightOlder)
	leaf := l.resolve(t, right)
	if leaf.high < key {
		t.Acquire()
		leaf = l.resolve(t, true)
	}
	return leaf.keys
}

// walks is a range over all, from the left leaf: both keys, and how often it meets each.
func (l versionedSplit) walks(t *Thread) int {
	leaf := l.resolve(t, false)
	lowers, keys, low := leaf.lowers, 0, 0
	high := leaf.high
	if high >= key {
		keys = leaf.keys
	}
	if l.broken == "by today's links" {
		high = t.Load(splitHigh)[0]
	}
	if high < wide {
		low = high + 1
		t.Acquire()
		leaf = l.resolve(t, true)
		if low <= key {
			keys += leaf.keys
		}
	}
	return 10*lowers + keys
}

func (l versionedSplit) model(readers ...func(*Thread) int) Model {
	time, older, held := theSnapshot, 0, 0
	if l.copied {
		time, older, held = behindIt, splitVersion, content([]int{pair(lower, 1), pair(key, 1)})
	}
	return Model{
		Places:  []int{pair(lower, 1), pair(key, 1), time, older, wide, held, erased, 0, 0, 0},
		Threads: append([]func(*Thread) int{l.splits, l.removes}, readers...),
		Fault: func(places, returned []int) string {
			for _, got := range returned[2:] {
				if got != 1 && got != 11 {
					return fmt.Sprintf("the key is met %d times at the snapshot", got%10)
				}
			}
			if count(returned, deleted) == 1 && keyOf(places[1])+keyOf(places[splitRight]) != 0 {
				return "the key is there, though it was deleted"
			}
			return ""
		},
	}
}

func TestSnapshotWithSplit(t *testing.T) {
	for _, c := range []struct {
		copied        bool
		finds, walks  []string // what breaks it
		andBothAtOnce bool
	}{
		{false, []string{"the leaf is not copied", "the new leaf has no history", "the new leaf is of any time"},
			[]string{"the leaf is not copied", "by today's links"}, stress.Level > 0},
		{true, []string{"the new leaf has no history", "the new leaf is of any time"},
			[]string{"by today's links"}, true},
	} {
		for _, broken := range append([]string{""}, c.finds...) {
			t.Run(fmt.Sprint("find ", c.copied, " ", broken), func(t *testing.T) {
				l := versionedSplit{c.copied, broken}
				check(t, l.model(l.finds), broken == "")
			})
		}
		for _, broken := range append([]string{""}, c.walks...) {
			t.Run(fmt.Sprint("range ", c.copied, " ", broken), func(t *testing.T) {
				l := versionedSplit{c.copied, broken}
				check(t, l.model(l.walks), broken == "")
			})
		}
		if c.andBothAtOnce {
			l := versionedSplit{copied: c.copied}
			check(t, l.model(l.finds, l.walks), true)
		}
	}
}
