package models

import (
	"fmt"
	"testing"
)

// A leaf that lost its last pair goes away while a snapshot is open, at which it has one: a batch does so, beside
// queries on the snapshot. Its left neighbour takes over its range, and is changed by that: so it is copied, and the
// version has the high and the link from before, by which a query at the snapshot comes to the empty leaf and to what
// that held. The empty leaf's slab is retired like a version's, with the time of the batch.
type unlinked struct {
	broken string
}

const (
	unlinkedChild = iota // of an inner node: the empty leaf, later its neighbour
	neighborTime
	neighborOlder
	neighborHigh // with the link: narrow leads to the empty leaf
	neighborCopy
	emptyLeaf // its slab: its time, or another structure's

	itself   = 1 // of the child: the empty leaf
	neighbor = 2
)

func (u unlinked) unlinks(t *Thread) int {
	if u.broken != "the neighbour is not copied" {
		t.Store(neighborCopy, t.Load(neighborHigh)[0])
		t.Release()
		t.Store(neighborOlder, neighborCopy)
		t.Release()
		t.Store(neighborTime, behindIt)
		t.Release()
	}
	t.Store(neighborHigh, wide)
	t.Release()
	t.Store(unlinkedChild, neighbor)
	if u.broken == "its slab is given back at once" {
		t.Release()
		t.Store(emptyLeaf, alienValue)
	}
	return done
}

// atEmpty is what the empty leaf held at the snapshot: its version is as old as can be, and has the key.
func (u unlinked) atEmpty(t *Thread) int {
	t.Follow(emptyLeaf)
	if t.Load(emptyLeaf)[0] != behindIt {
		return pending
	}
	return found
}

func (u unlinked) finds(t *Thread) int {
	if t.Load(unlinkedChild)[0] == itself {
		return u.atEmpty(t)
	}
	t.Follow(neighborTime, neighborOlder, neighborHigh)
	v := t.Load(neighborTime, neighborHigh)
	for {
		t.Acquire()
		again := t.Load(neighborTime, neighborOlder, neighborHigh)
		high := v[1]
		switch {
		case v[0] > theSnapshot && u.broken == "by today's link":
			high = again[2]
		case v[0] > theSnapshot:
			t.Follow(again[1])
			high = t.Load(again[1])[0]
		case again[0] > theSnapshot:
			v[0] = again[0]
			continue
		}
		if high >= key {
			return absent
		}
		return u.atEmpty(t)
	}
}

func TestSnapshotWithUnlinking(t *testing.T) {
	for _, broken := range []string{
		"", "the neighbour is not copied", "its slab is given back at once", "by today's link",
	} {
		t.Run(broken, func(t *testing.T) {
			u := unlinked{broken}
			check(t, Model{Places: []int{itself, theSnapshot, 0, narrow, 0, behindIt},
				Threads: []func(*Thread) int{u.unlinks, u.finds},
				Fault: func(_, returned []int) string {
					if returned[1] != found {
						return fmt.Sprintf("the snapshot's key is not found: %d", returned[1])
					}
					return ""
				}}, broken == "")
		})
	}
}
