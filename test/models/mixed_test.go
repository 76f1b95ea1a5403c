package models

import (
	"fmt"
	"testing"
)

// mixedBatch is a batch of two queries for order and two updates, done in dispatches of which each may leave any of
// them pending: first the queries, behind a barrier the updates. Whoever submits between the dispatches may change the
// tree. What is there is a bit for each update. shaders/btree/mixed.glsl says how it is done; here is every history.
type mixedBatch struct {
	broken string
	there  int
	seen   [2]int // by the queries; pending at first
	done   [2]bool
}

const (
	notSeen       = -1
	othersUpdate  = 4 // in what is there
	mixedAttempts = 3 // dispatches, of which the last one leaves nothing pending
)

// dispatch does the batch once more, but for what is given up: a bit for each query and then for each update.
func (b *mixedBatch) dispatch(givenUp int) {
	left := 0 // the gate
	for i := range b.seen {
		if b.seen[i] == notSeen && givenUp>>i&1 == 0 {
			b.seen[i] = b.there
		}
		if b.seen[i] == notSeen {
			left++
		}
	}
	if left != 0 && b.broken != "updates don't wait" {
		if b.broken != "what was seen is kept" {
			b.seen = [2]int{notSeen, notSeen}
		}
		return
	}
	for i := range b.done {
		if !b.done[i] && givenUp>>(2+i)&1 == 0 {
			b.done[i] = true
			b.there |= 1 << i
		}
	}
}

// fault says why no order of all operations has the queries in front, or what they saw isn't one moment.
func (b *mixedBatch) fault() string {
	switch {
	case b.seen[0] != b.seen[1]:
		return fmt.Sprintf("one query sees %d, and the other %d", b.seen[0], b.seen[1])
	case b.seen[0]&^othersUpdate != 0:
		return fmt.Sprintf("the queries see %d, which their own batch brings", b.seen[0])
	case b.done != [2]bool{true, true} || b.seen[0] == notSeen:
		return "something is left pending"
	}
	return ""
}

// histories calls check with the batch at the end of each history from here on.
func (b mixedBatch) histories(attempt int, check func(mixedBatch)) {
	if attempt == mixedAttempts {
		check(b)
		return
	}
	for others := range 2 {
		for givenUp := range 16 {
			next := b
			if others == 1 {
				next.there |= othersUpdate
			}
			if attempt == mixedAttempts-1 {
				givenUp = 0
			}
			next.dispatch(givenUp)
			next.histories(attempt+1, check)
		}
	}
}

// All queries of a mixed batch see one moment, in front of its updates, whatever is left pending how often.
func TestMixedBatch(t *testing.T) {
	for _, broken := range []string{"", "updates don't wait", "what was seen is kept"} {
		t.Run(broken, func(t *testing.T) {
			what := ""
			mixedBatch{broken: broken, seen: [2]int{notSeen, notSeen}}.histories(0, func(b mixedBatch) {
				if f := b.fault(); f != "" {
					what = f
				}
			})
			if (what == "") != (broken == "") {
				t.Fatalf("fault %q", what)
			}
		})
	}
}
