package graph

import (
	"fmt"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// Options say how a graph is made. The zero value is an undirected graph without weights and self loops, of no vertices
// yet, that grows as it must.
type Options struct {
	// Directed graphs have arcs: an edge from u to v is none from v to u. Of undirected ones an edge is in the
	// adjacency of both its ends.
	Directed bool
	// Weighted edges have a value of 32 bits (the map variant of section 5.4 of the dissertation), others have none
	// (the set variant, which takes half the memory).
	Weighted bool
	// SelfLoops says that a vertex may have an edge to itself. Otherwise such edges are not inserted: Absent.
	SelfLoops bool
	// Vertices is how many vertices there are at first: 0 to Vertices-1, without edges.
	Vertices int
	// Capacity is how many vertices there is room for before their descriptors, 16 bytes each, are moved to larger
	// memory. At least Vertices.
	Capacity int
	// Load is how full buckets are made where a vertex gets several: edges / slots of base slabs. The fuller, the less
	// memory and the longer the way to an edge. No vertex has more buckets than edges. 0.01 to 100; 0: DefaultLoad.
	Load float64
	// MaxLoad is the number of edges over the slots of base slabs above which a vertex gets more buckets, to have Load
	// again. At least 1; 0: DefaultMaxLoad.
	MaxLoad float64
	// Pool is where slabs come from; nil: the graph has a pool of its own. What shares a pool takes turns, and has it
	// grow when the work on all of them has ended.
	Pool *alloc.SlabPool
	// MaxBytes is the most memory that the graph may keep: its descriptors, its own pool, and both copies of
	// either while it grows. 0: as much as there is. If an update needs more, it returns *vk.LimitError.
	// Package structures says which memory of calls comes on top; the names of a Named do, too.
	MaxBytes uint64
	// Seed varies the hash function.
	Seed uint32
	// Tile is how many lanes work on one slab together, in every kernel: a power of two up to 8 and to the subgroup
	// size. 0: what measured best for the slab hash on this type of device, kernel by kernel.
	Tile int
	// Timed has the stages of calls that rebuild timed by the device, for Stats.Timings.
	Timed bool
	// Progress, if not nil, is told how long calls get on.
	Progress structures.Progress
}

const (
	DefaultLoad    = 0.7 // section 5.3 of the dissertation, and its figures 5.2 and 5.3
	DefaultMaxLoad = 2

	minLoad    = 0.01
	maxLoad    = 100.0
	maxBuckets = 1 << 26 // of a vertex: 2^31 edges at a load of 1
	maxTile    = 8       // quads of a slab
)

func (o *Options) complete(d *vk.Device) error {
	if o.Load == 0 {
		o.Load = DefaultLoad
	}
	if o.MaxLoad == 0 {
		o.MaxLoad = max(DefaultMaxLoad, 1.5*o.Load)
	}
	o.Capacity = max(o.Capacity, o.Vertices)
	if err := o.checkVertices(); err != nil {
		return err
	}
	switch {
	case o.Capacity > MaxVertices:
		return &vk.OptionError{Option: "Capacity",
			Reason: fmt.Sprintf("%d, but a graph has up to %d vertices", o.Capacity, MaxVertices)}
	case !(o.Load >= minLoad && o.Load <= maxLoad):
		return &vk.OptionError{Option: "Load",
			Reason: fmt.Sprintf("%g, but it is %g to %g", o.Load, minLoad, maxLoad)}
	case !(o.MaxLoad >= max(o.Load, 1)) || o.MaxLoad > 1<<20:
		return &vk.OptionError{Option: "MaxLoad",
			Reason: fmt.Sprintf("%g, but it is at least 1 and Load, %g, and at most 2^20", o.MaxLoad, o.Load)}
	case o.Tile < 0 || o.Tile > maxTile || o.Tile&(o.Tile-1) != 0:
		return &vk.OptionError{Option: "Tile",
			Reason: fmt.Sprintf("%d, but it is a power of two up to %d", o.Tile, maxTile)}
	case o.Tile > d.SubgroupSize():
		return &vk.OptionError{Option: "Tile",
			Reason: fmt.Sprintf("%d, but subgroups have %d lanes here", o.Tile, d.SubgroupSize())}
	}
	return nil
}

func (o *Options) checkVertices() error {
	if o.Vertices < 0 || o.Vertices > MaxVertices {
		return &vk.OptionError{Option: "Vertices",
			Reason: fmt.Sprintf("%d, but a graph has 0 to %d", o.Vertices, MaxVertices)}
	}
	return nil
}

// tiles are how many lanes work on one slab together, in each sort of kernel.
type tiles struct{ find, update, walk int }

func tilesOf(d *vk.Device, wish int) tiles {
	if wish != 0 {
		return tiles{wish, wish, wish}
	}
	find, update, walk := slabhash.Tiles(d)
	return tiles{find, update, walk}
}
