package btree

import (
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// geometry is what a node of 128 bytes has room for, and where its header's words are: what btree_node.glsl says. Nodes
// of other sizes would be another slab size of the pools, NODE_BYTES of node.glsl, and another line here.
type geometry struct {
	slots                 int // pairs of a leaf, children of an inner node
	meta, low, high, link int // words
}

var geometries = [...]geometry{
	structures.Bits32: {Slots, metaWord, lowWord, highWord, linkWord},
	structures.Bits64: {6, 24, 26, 28, 30},
}

func (t *tree) geometry() geometry { return geometries[t.width] }

// SlotsAt is how many pairs of a width a leaf has room for, and children an inner node: Slots at 32 bits.
func SlotsAt(w structures.Width) int { return geometries[w].slots }

// leastShare is how many pairs each node gets at least when nodes are split. No less, so that a node makes another one
// only after having got so many.
func (g geometry) leastShare() int { return g.slots / 2 }

// minChildren is how many children an inner node that is made in bulk gets at least, and most of those that a batch in
// key order splits, however little they are to be filled: so that the levels suffice for as many pairs as there may be.
const minChildren = 5

// shares returns how many pairs a leaf and children an inner node get, if each has that share of its slots in use.
func (g geometry) shares(fill float64) (leaf, inner int) {
	each := max(1, int(fill*float64(g.slots)+1e-9))
	return each, max(minChildren, each)
}

// nodesFor returns how many nodes a tree of so many pairs has at most, if each gets that share of its slots.
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

// sized is the module of a kernel that has keys or values.
func (t *tree) sized(module string) string { return recording.Sized(module, t.width) }

// widths are those of keys and values where they are sorted.
func (t *tree) widths() primitives.Widths { return primitives.Widths{Key: t.width, Value: t.width} }

// at is the address of the key or value of a number in a buffer, whose words are two each at 64 bits.
func (t *tree) at(b *vk.Buffer[uint32], first int) uint64 {
	return recording.At(b, first<<t.width)
}
