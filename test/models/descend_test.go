package models

import "testing"

// Inner nodes are read by plain loads, whose words may be older than what the invocation has seen before
// (btree_descend.glsl). A leaf is split, so its key moves to a new leaf on the right, and then the inner node is told.
// Who looks for the key meanwhile finds it, from wherever the inner node leads, also after a glance, which reads the
// leaf by a plain load, too (btree/glance.glsl).
func TestOldInnerNodes(t *testing.T) {
	const (
		child = iota // of the inner node, for the key: 0 the left leaf, 1 the right one
		left         // its slot
		high         // 0: the left leaf's range has the key; 1: it is narrow, and linked
		right        // its slot
	)
	for _, broken := range []string{
		"", "the new leaf is linked before it is filled", "the leaf is not read by the address",
		"what a glance doesn't see is absent",
	} {
		splits := func(t *Thread) int {
			t.Store(right, key)
			if broken != "the new leaf is linked before it is filled" {
				t.Release()
			}
			t.Store(high, 1)
			t.Release()
			t.Store(left, erased)
			t.Store(child, 1)
			return done
		}
		finds := func(t *Thread) int {
			at := t.Old(child)
			if broken != "the leaf is not read by the address" {
				t.Follow(left, high, right)
			}
			for range 3 {
				if at == 1 {
					if t.Load(right)[0] == key {
						return found
					}
					return absent
				}
				leaf := t.Load(left, high)
				switch {
				case leaf[1] == 1:
					at = 1
				case leaf[0] == key:
					return found
				}
				t.Acquire() // to go right, or to read the leaf again
			}
			return pending
		}
		glances := func(t *Thread) int {
			leaf := left
			if t.Old(child) == 1 {
				leaf = right
			}
			if t.Old(leaf) == key {
				return found
			}
			if broken == "what a glance doesn't see is absent" {
				return absent
			}
			return finds(t)
		}
		check(t, Model{
			Places: []int{0, key, 0, 0},
			Threads: []func(*Thread) int{splits, func(t *Thread) int { return 10*finds(t) + finds(t) },
				func(t *Thread) int { return 11 * glances(t) }},
			Fault: func(_, returned []int) string {
				for _, all := range returned[1:] {
					if all/10 == absent || all%10 == absent {
						return "the key is not found"
					}
				}
				return ""
			},
		}, broken == "")
	}
}
