package latched

import "fmt"

// none is a node or a key that isn't there.
const none = ^uint32(0)

// node is one of those that were read.
type node struct {
	id                    uint32
	slots                 []uint32 // those in use: two words each
	meta, low, high, link uint32
}

func (n node) level() uint32 { return n.meta >> 1 & 15 }

func (n node) wrong(format string, args ...any) error {
	return fmt.Errorf("latched: node %d of level %d, keys %d to %d: %s", n.id, n.level(), n.low, n.high,
		fmt.Sprintf(format, args...))
}

func (n node) child(i int) uint32 { return n.slots[2*i+1] }

// check looks at all nodes of a tree, from the memory that holds them.
func check(words []uint32, o Options) (pairs int, err error) {
	size := o.NodeBytes / 4
	read := func(id uint32) node {
		w := words[int(id)*size:][:size]
		used := 0
		for used < o.slots() && w[2*used] != none {
			used++
		}
		header := w[2*o.slots():]
		return node{id, w[:2*used], header[0], header[1], header[2], header[3]}
	}
	count := len(words) / size
	parents := make([]uint8, count)
	unused, parentless := 0, 0
	for id := range uint32(count) {
		n := read(id)
		if n.meta == none && parents[id] == 0 { // taken, but the root, which needs two, didn't get the second one
			unused++
			continue
		}
		if n.meta&1 != 0 {
			return 0, n.wrong("latched")
		}
		if o.Kind == BPlus && n.link != none {
			return 0, n.wrong("it has a side link")
		}
		for i := 0; i < len(n.slots); i += 2 {
			if key := n.slots[i]; key < n.low || key > n.high || (i > 0 && key <= n.slots[i-2]) {
				return 0, n.wrong("key %d in slot %d", key, i/2)
			}
		}
		if n.level() == 0 {
			pairs += len(n.slots) / 2
			continue
		}
		if len(n.slots) == 0 || n.slots[0] != n.low {
			return 0, n.wrong("its children don't begin where it does")
		}
		next := none // the first child of the right neighbour
		if n.link != none {
			next = read(n.link).child(0)
		}
		for i := len(n.slots)/2 - 1; i >= 0; i-- {
			if int(n.child(i)) >= count || parents[n.child(i)] != 0 {
				return 0, n.wrong("child %d is another's, too, or none", n.child(i))
			}
			parents[n.child(i)]++
			c, high := read(n.child(i)), n.high
			if 2*i+2 < len(n.slots) {
				high = n.slots[2*i+2] - 1
			}
			switch {
			case c.level() != n.level()-1 || c.low != n.slots[2*i] || c.high != high:
				return 0, n.wrong("its child %d is of level %d, for %d to %d", c.id, c.level(), c.low, c.high)
			case o.Kind == BLink && c.link != next:
				return 0, n.wrong("its child %d is linked to %d instead of %d", c.id, c.link, next)
			}
			next = c.id
		}
	}
	for _, p := range parents {
		if p == 0 {
			parentless++
		}
	}
	if parents[0] != 0 || parentless != unused+1 {
		return 0, fmt.Errorf("latched: %d nodes without a parent; the root has %d", parentless, parents[0])
	}
	return pairs, nil
}
