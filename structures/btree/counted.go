package btree

import (
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
)

// counted is how many nodes a tree had when they were counted, and how many pairs have come since: what follows of how
// many there may be by now.
type counted struct {
	nodes    uint64
	beyond   [depths]uint64 // of each level: the slots that its nodes use, erased ones as well, beyond leastShare each
	inserted uint64         // since then, at most
	width    structures.Width
	unsure   bool // somebody else may have inserted more
	height   int  // the root's level, as it was last seen; 0: never
}

// countedOf is what a bulk build makes, each of whose nodes has that share of its slots in use.
func countedOf(width structures.Width, pairs int, fill float64) counted {
	g := geometries[width]
	leaf, inner := g.shares(fill)
	c := counted{nodes: 1, width: width}
	each, level := leaf, pairs/leaf+2
	for l := 0; l < depths; l++ {
		c.beyond[l] = uint64(level * max(each-g.leastShare(), 0))
		if level == 1 {
			break
		}
		c.nodes += uint64(level)
		c.height = l + 1
		each, level = inner, (level+inner-1)/inner
	}
	return c
}

// most is how many nodes there may be once n more pairs are in.
//
// A node is split when it has no slot left, and of those that it becomes each has leastShare in use at least. So every
// other node of a level costs as many insertions into that level, or slots that were in use beyond so many, and each
// insertion makes one at most. Both paths keep to that; deletions free no slot for it. The nodes that a level gets are
// insertions into the one above.
func (c *counted) most(n int) uint64 {
	nodes, inserted := c.nodes, c.inserted+uint64(n)
	if inserted == 0 {
		return nodes
	}
	least := uint64(geometries[c.width].leastShare())
	for _, beyond := range c.beyond {
		inserted = min(inserted, (beyond+inserted)/least)
		nodes += inserted
	}
	return nodes + depths // a root that splits makes one node more
}

// about is how many nodes there are as a rule.
func (c *counted) about() uint64 { return c.nodes + c.inserted/4 + c.inserted/64 }

// before is about before so many of the pairs that are counted in.
func (c *counted) before(n int) uint64 {
	then := *c
	then.inserted -= min(then.inserted, uint64(n))
	return then.about()
}

// likely is how many slabs do for n more pairs as a rule, if they are inserted concurrently: some more than the nodes,
// so that kernels find one soon.
func (c *counted) likely(n int) uint64 {
	then := *c
	then.inserted += uint64(n)
	return min(then.about()+alloc.BlockSlabs/2, c.most(n))
}
