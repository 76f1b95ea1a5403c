package models

import "testing"

// walk is a range over the leaf and the one that a split moves its key to: whether it met the key. Each leaf is looked
// at once more behind a fence, and the next one is read behind that fence, too. Broken, one look is enough.
func walk(broken bool) func(*Thread) int {
	return func(t *Thread) int {
		for range 2 {
			v := t.Load(0, 1, 2, meta, high)
			t.Acquire()
			again := t.Load(meta, high, rightSlot, rightMeta)
			stands := again[0] == v[meta] && again[1] == v[high] && v[meta]&latch == 0
			if !stands && !broken {
				continue
			}
			for slot := range slots {
				if keyOf(v[slot]) == key && v[high] >= key {
					return found
				}
			}
			if v[high] == wide {
				return absent
			}
			// By the link.
			for range 2 {
				t.Acquire()
				last := t.Load(rightMeta)
				if last[0] == again[3] && last[0]&latch == 0 || broken {
					if keyOf(again[2]) == key {
						return found
					}
					return absent
				}
				copy(again[2:], t.Load(rightSlot, rightMeta))
			}
			return pending
		}
		return pending
	}
}

// A range concurrent with a split that moves a key has it.
func TestRangeWithSplit(t *testing.T) {
	holds(t, func(broken bool) Model {
		return Model{Places: full(pair(key, 1)), Threads: []func(*Thread) int{
			split(false), walk(broken)}, Fault: func(_, returned []int) string {
			if returned[1] == absent {
				return "the range lacks the key"
			}
			return ""
		}}
	})
}

// A root of level 1 that is split: its child becomes a node of level 1, whose child the leaf is then. A walk that reads
// the new child and the old level takes that node for its leaf. It begins again, and keeps its place; broken, it goes
// on behind what the node is for.
func TestRangeWithRootSplit(t *testing.T) {
	const (
		rootChild = iota
		rootLevel
		nodeLevel
		nodeHigh
		nodeChild

		leaf = 1 // what is named by a child
		node = 2
	)
	holds(t, func(broken bool) Model {
		split := func(t *Thread) int {
			t.Store(nodeLevel, 1)
			t.Store(nodeHigh, key+1)
			t.Store(nodeChild, leaf)
			t.Release()
			t.Store(rootChild, node)
			t.Release()
			t.Store(rootLevel, 2)
			return done
		}
		walk := func(t *Thread) int {
			low := 0
			for range 3 {
				v := t.Load(rootChild, rootLevel)
				child, level := v[0], v[1]-1
				if child == node && level == 1 {
					t.Follow(nodeLevel, nodeHigh, nodeChild)
					child, level = t.Load(nodeChild)[0], 0
				}
				if child == node { // as a leaf
					t.Acquire()
					if astray := t.Load(nodeLevel)[0] != 0; !astray {
						return done
					}
					if broken {
						low = t.Load(nodeHigh)[0] + 1
					}
					continue
				}
				if child == leaf && low <= key {
					return found
				}
				return absent
			}
			return pending
		}
		return Model{Places: []int{leaf, 1, 0, 0, 0}, Threads: []func(*Thread) int{
			split, walk}, Fault: func(_, returned []int) string {
			if returned[1] == absent || returned[1] == done {
				return "the range lacks the key"
			}
			return ""
		}}
	})
}
