package btree

import (
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures"
)

// counted bounds the number of nodes, by the number at the last count and the pairs inserted since.
type counted struct {
	nodes    uint64
	beyond   [depths]uint64 // by level: used or erased slots above leastShare of each node
	inserted uint64         // insertions since the count, at most
	width    structures.Width
	unsure   bool // kernels of the caller or dropped work may have changed the numbers
	height   int  // the level of the root at the last count; 0: not counted
}

// countedOf returns the numbers after a bulk build with a share fill of the slots.
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

// most returns an upper bound of the nodes after n more insertions.
//
// A node splits when it has no free slot, and each of the new nodes has at least leastShare slots in use. So each new
// node of a level takes leastShare insertions into that level, or slots that were in use above leastShare before, and
// each insertion makes at most one node. Both paths keep to that; deletions don't free slots for it. The new nodes of a
// level are the insertions into the level above.
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
	return nodes + depths // a root that splits makes one more node
}

// about returns the usual number of nodes.
func (c *counted) about() uint64 { return c.nodes + c.inserted/4 + c.inserted/64 }

// before returns about without the last n insertions.
func (c *counted) before(n int) uint64 {
	then := *c
	then.inserted -= min(then.inserted, uint64(n))
	return then.about()
}

// likely returns the usual number of slabs after n more concurrent insertions. It is somewhat above the number of
// nodes, so that kernels find a free slab soon.
func (c *counted) likely(n int) uint64 {
	then := *c
	then.inserted += uint64(n)
	return min(then.about()+slabs.BlockSlabs/2, c.most(n))
}
