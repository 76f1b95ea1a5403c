package btree

import (
	"fmt"
	"math"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/enum"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Slots is how many pairs a leaf has room for, and children an inner node.
const Slots = 14

// DefaultFill is the share of its slots that a node gets of a bulk build: 8 of 15, as the paper has it; and WideFill
// that of a tree of 64 bits, whose nodes have 6 slots: 4 of them.
const (
	DefaultFill = 8.0 / 15
	WideFill    = 4.0 / 6
)

// Path is the way that a batch of updates takes.
type Path uint8

const (
	// AutoPath takes the path that measured best for the batch's size and order. Mixed batches (Apply) go the
	// concurrent path.
	AutoPath Path = iota
	// Concurrent does each operation by itself, all of them concurrently, in parts no larger than the tree.
	// structures.Batch says what that means for the order of a mixed batch.
	Concurrent
	// Batched sorts the batch and changes each node that it touches once. A mixed batch has an order
	// (structures.Batch).
	Batched
)

var pathNames = enum.Names[Path]{"auto", "concurrent", "batched"}

func (p Path) String() string { return pathNames.String(p) }

// Options say how a tree is made. The zero value makes an empty tree that grows as it must.
type Options struct {
	// Capacity is how many pairs the tree's memory is laid out for at first. More may be inserted.
	Capacity int
	// Fill is the share of its slots that a node gets where nodes are made in bulk: Build, Compact, and the splits of
	// the batched path. Above 0, up to 1; 0: DefaultFill, or WideFill.
	Fill float64
	// MaxBytes is the most memory that the tree may keep: its nodes, what snapshots need, and both copies of either
	// while it grows. 0: as much as there is. If an update needs more, it returns *structures.LimitError. Package
	// structures says which memory of calls comes on top.
	MaxBytes uint64
	// Pool is where the nodes come from. nil: the tree has a pool of its own. A pool may serve several trees and hash
	// tables of one device; their calls from Go slices take turns, and it outlives all of them. MaxBytes doesn't bound
	// the pool. Each call that makes many nodes then has slabs allocated beforehand, so that UpdateOn waits for its
	// stream, but for deletions, and BuildOn for all that work on the tree.
	Pool *alloc.SlabPool
	// Path is the way that batches of updates from Go slices take. It decides about the order of mixed batches, too
	// (structures.Batch).
	Path Path
	// Tile is how many lanes work on one node together, in every kernel: a power of two up to 8 and to the subgroup
	// size. 0: what measured best on this type of device, kernel by kernel.
	Tile int
	// Progress, if not nil, is told how long calls get on.
	Progress structures.Progress
}

const (
	maxTile  = 8                       // quads of a node
	maxPairs = min(1<<32, math.MaxInt) // keys are 32 bits
)

func (o *Options) complete(d *vk.Device, width structures.Width) error {
	if o.Fill == 0 {
		o.Fill = [...]float64{DefaultFill, WideFill}[width]
	}
	switch {
	case o.Capacity < 0:
		return &structures.OptionError{Option: "Capacity", Reason: "negative"}
	case o.Capacity > maxPairs:
		return &structures.OptionError{Option: "Capacity",
			Reason: fmt.Sprintf("%d, but there are no more than 2^32 keys", o.Capacity)}
	case !(o.Fill > 0 && o.Fill <= 1):
		return &structures.OptionError{Option: "Fill", Reason: fmt.Sprintf("%g, but it is above 0 and up to 1", o.Fill)}
	case o.Path > Batched:
		return &structures.OptionError{Option: "Path", Reason: fmt.Sprintf("%v", o.Path)}
	case o.Tile < 0 || o.Tile > maxTile || o.Tile&(o.Tile-1) != 0:
		return &structures.OptionError{Option: "Tile", Reason: fmt.Sprintf("%d, but it is a power of two up to %d",
			o.Tile, maxTile)}
	case o.Tile > d.SubgroupSize():
		return &structures.OptionError{Option: "Tile", Reason: fmt.Sprintf("%d, but subgroups have %d lanes here",
			o.Tile, d.SubgroupSize())}
	}
	return nil
}

// tiles are how many lanes work on one node together, in each sort of kernel.
type tiles struct {
	update int // concurrent queries and updates
	walk   int // all nodes, streaming
}

// The widths that measured best, by type of device (docs/benchmarks.md). On a CPU, a lane is a loop iteration and
// shuffles are dear, so one lane takes the whole node.
func bestTiles(d *vk.Device, wish int) tiles {
	t := tiles{update: 2, walk: 4}
	if d.Info().Type == vk.CPU {
		t = tiles{1, 1}
	}
	for _, tile := range []*int{&t.update, &t.walk} {
		if wish != 0 {
			*tile = wish
		}
		*tile = min(*tile, d.SubgroupSize())
	}
	return t
}
