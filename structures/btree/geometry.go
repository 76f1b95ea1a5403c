package btree

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// geometry is the layout of a node of 128 bytes: how many slots it has, and which words hold its header, as in
// btree_node.glsl. Another node size would need another slab size of the pools, another NODE_BYTES of node.glsl, and
// another geometry.
type geometry struct {
	slots                 int // pairs of a leaf, children of an inner node
	meta, low, high, link int // words
}

var geometries = [...]geometry{
	structures.Bits32: {Slots, metaWord, lowWord, highWord, linkWord},
	structures.Bits64: {6, 24, 26, 28, 30},
}

func (t *tree) geometry() geometry { return geometries[t.width] }

// SlotsAt returns the number of pairs of a width for which a leaf has room, and of children for which an inner node has
// room. It is Slots for 32 bits.
func SlotsAt(w structures.Width) int { return geometries[w].slots }

// leastShare returns how many pairs each node gets at least in a split. It is half of the slots, so that a node splits
// again only after as many insertions.
func (g geometry) leastShare() int { return g.slots / 2 }

// minChildren is how many children an inner node gets at least in a bulk build and in most splits of the batched path,
// even if Fill is small. So the levels are enough for the largest number of pairs.
const minChildren = 5

// shares returns how many pairs a leaf gets and how many children an inner node gets, for a share fill of the slots.
func (g geometry) shares(fill float64) (leaf, inner int) {
	each := max(1, int(fill*float64(g.slots)+1e-9))
	return each, max(minChildren, each)
}

// nodesFor returns how many nodes a tree of so many pairs has at most, for a share fill of the slots.
func (g geometry) nodesFor(pairs int, fill float64) int {
	leaf, inner := g.shares(fill)
	level := pairs/leaf + 2
	nodes := level
	for level > 1 {
		level = (level + inner - 1) / inner
		nodes += level
	}
	return nodes
}

// sized returns the name of the module of a kernel that uses keys or values.
func (t *tree) sized(module string) string { return recording.Sized(module, t.width) }

// widths returns the widths of keys and values for sorting.
func (t *tree) widths() primitives.Widths { return primitives.Widths{Key: t.width, Value: t.width} }

// at returns the address of a key or value by its index in a buffer. At 64 bits each takes two words.
func (t *tree) at(b *vk.Buffer[uint32], first int) uint64 {
	return recording.At(b, first<<t.width)
}
