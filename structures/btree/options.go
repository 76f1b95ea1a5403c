package btree

import (
	"fmt"
	"math"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/enum"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Slots is the number of pairs for which a leaf of 32-bit keys and values has room, and of children for which an inner
// node has room.
const Slots = 14

// The default of Options.Fill: DefaultFill for keys and values of 32 bits, 8 of 15 slots as in the paper, and WideFill
// for 64 bits, 4 of the 6 slots of a node.
const (
	DefaultFill = 8.0 / 15
	WideFill    = 4.0 / 6
)

// Path selects how the device does a batch of updates.
type Path uint8

const (
	// AutoPath takes the path that measured best for the size and the order of the batch. Mixed batches (Apply) take
	// the concurrent path.
	AutoPath Path = iota
	// Concurrent runs the operations of a batch concurrently, in parts no larger than the tree. structures.Batch
	// describes the order of a mixed batch.
	Concurrent
	// Batched sorts the batch and changes each node that it touches once. structures.Batch describes the order of a
	// mixed batch.
	Batched
)

var pathNames = enum.Names[Path]{"auto", "concurrent", "batched"}

func (p Path) String() string { return pathNames.String(p) }

// Options are the options of a tree. The zero value makes an empty tree that grows when it must.
type Options struct {
	// Capacity is the number of pairs for which memory is allocated at first. More may be inserted.
	Capacity int
	// Fill is the share of its slots that a node has in use after Build, after Compact, and after a split on the
	// batched path. It is above 0 and up to 1. 0: DefaultFill for 32 bits, WideFill for 64 bits.
	Fill float64
	// MaxBytes is the greatest amount of memory that the tree may keep: its nodes, the memory for snapshots, and both
	// copies of either while it grows. 0: no limit. An update that needs more returns a *structures.PendingError around
	// a *vk.LimitError. Package structures says which memory calls use in addition.
	MaxBytes uint64
	// Pool is the pool from which the tree allocates its nodes. nil: the tree has its own pool. Several trees and hash
	// tables of one device may share a pool. Their calls from Go slices run one at a time, and the pool must be closed
	// after all of them. MaxBytes does not limit the pool. A call that makes many nodes first allocates their slabs.
	// For that, Update of OnStream waits for its stream, except for deletions, and Build waits for all streams that use
	// the tree.
	Pool *alloc.SlabPool
	// Path is how batches of updates from Go slices are done. It also determines the order of mixed batches
	// (structures.Batch).
	Path Path
	// Tile is the number of lanes that read a node together, in every kernel: a power of two, at most 8 and the
	// subgroup size. 0: for each kernel, the number that measured best on this type of device.
	Tile int
	// Progress, if not nil, is called with the progress of long calls.
	Progress structures.Progress
}

const (
	maxTile  = 8                       // quads of a node
	maxPairs = min(1<<32, math.MaxInt) // the number of 32-bit keys
)

func (o *Options) complete(d *vk.Device, width structures.Width) error {
	if o.Fill == 0 {
		o.Fill = [...]float64{DefaultFill, WideFill}[width]
	}
	switch {
	case o.Capacity < 0:
		return &vk.OptionError{Option: "Capacity", Reason: "negative"}
	case o.Capacity > maxPairs:
		return &vk.OptionError{Option: "Capacity",
			Reason: fmt.Sprintf("%d is more than 2^32", o.Capacity)}
	case !(o.Fill > 0 && o.Fill <= 1):
		return &vk.OptionError{Option: "Fill", Reason: fmt.Sprintf("%g is not above 0 and at most 1", o.Fill)}
	case o.Path > Batched:
		return &vk.OptionError{Option: "Path", Reason: o.Path.String() + " is not a path"}
	case o.Tile < 0 || o.Tile > maxTile || o.Tile&(o.Tile-1) != 0:
		return &vk.OptionError{Option: "Tile", Reason: fmt.Sprintf("%d is not a power of two up to %d",
			o.Tile, maxTile)}
	case o.Tile > d.SubgroupSize():
		return &vk.OptionError{Option: "Tile", Reason: fmt.Sprintf("%d is more than the %d lanes of a subgroup",
			o.Tile, d.SubgroupSize())}
	}
	return nil
}

// tiles are the numbers of lanes that read a node together.
type tiles struct {
	update int // concurrent queries and updates
	walk   int // kernels that read all nodes in turn
}

// bestTiles returns the numbers that measured best, by type of device (docs/notes/measurements.md). On a CPU, a
// lane is a loop iteration and shuffles are slow, so one lane reads the whole node. wish is Options.Tile.
func bestTiles(d *vk.Device, wish int) tiles {
	t := tiles{update: 2, walk: 4}
	if d.Info().Type == vk.CPU {
		t = tiles{1, 1}
	}
	t.update = recording.Tile(d, wish, "tree.update", t.update, maxTile)
	t.walk = recording.Tile(d, wish, "tree.walk", t.walk, maxTile)
	return t
}

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

// queryShape is the layout of the kernels of queries in the read-only phase.
type queryShape struct {
	find       int // lanes that search together: for keys and neighbors,
	seek       int // and for the leaves where ranges begin
	walk       int // lanes that read the leaves of a range together
	parts      int // the parts in which lookups read a node: 1 or 2
	indexBits  int // log2 of the entries of a prefix index; -1: by the number of queries
	partBits   int // log2 of the parts of a partition
	partsOfFew int // log2 of the parts into which few ranges are divided together

	order structures.LookupOrder // for neighbors and ranges
}

// bestQueryShape returns the layout that measured best (docs/notes/measurements.md). wish is Options.Tile.
func bestQueryShape(d *vk.Device, wish int) queryShape {
	q := queryShape{find: 2, seek: 4, walk: 4, parts: 2, indexBits: -1, partBits: 8, partsOfFew: 16}
	if d.Info().Type == vk.CPU {
		q.find, q.seek, q.walk = 1, 1, 1
		q.partsOfFew = 8
	}
	q.find = recording.Tile(d, wish, "tree.find", q.find, maxTile)
	q.seek = recording.Tile(d, wish, "tree.seek", q.seek, maxTile)
	q.walk = recording.Tile(d, wish, "tree.walk", q.walk, maxTile)
	return q
}

// constant returns the specialization constant of the shape.
func (q queryShape) constant() recording.Specialization {
	return recording.Constant("NODE_PARTS", uint32(q.parts))
}
