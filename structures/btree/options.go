package btree

import (
	"fmt"
	"math"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/enum"
	"github.com/vkds/vkds/structures"
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
	for _, tile := range []*int{&t.update, &t.walk} {
		if wish != 0 {
			*tile = wish
		}
		*tile = min(*tile, d.SubgroupSize())
	}
	return t
}
