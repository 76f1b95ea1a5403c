package graph

import (
	"fmt"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph/internal/edgelist"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// Options are the options of a graph. The zero value makes an undirected graph without weights and self loops, which
// has no vertices yet and grows when it must.
type Options struct {
	// Directed makes edges have a direction: an edge from u to v is not one from v to u. In an undirected graph an edge
	// is in the adjacencies of both its ends.
	Directed bool
	// Weighted gives edges weights of 32 bits (the map variant of section 5.4 of the dissertation): integers, or floats
	// by their bits (Float32Bits). Without weights (the set variant) a graph takes half the memory.
	Weighted bool
	// SelfLoops allows edges from a vertex to itself. Otherwise they are not inserted, and their status is Absent.
	SelfLoops bool
	// Vertices is the number of vertices at first: 0 to Vertices-1, without edges.
	Vertices int
	// Capacity is the number of vertices for which there is room at first, at least Vertices. A vertex has a descriptor
	// of 16 bytes. For more vertices the descriptors are copied to larger memory.
	Capacity int
	// Load is the load factor of vertices with several buckets: edges / slots of base slabs. With a greater load a
	// graph takes less memory, and finding an edge takes longer. No vertex has more buckets than edges. 0.01 to 100; 0:
	// DefaultLoad.
	Load float64
	// MaxLoad is the load factor above which a vertex gets more buckets, so that it has Load again. At least 1 and
	// Load, at most 2^20; 0: DefaultMaxLoad, or 1.5 times Load if that is more.
	MaxLoad float64
	// Pool is the pool of the slabs. nil: the graph has its own pool. Structures that share a pool wait for each
	// other's changes, and the pool grows after the work on all of them has ended.
	Pool *alloc.SlabPool
	// MaxBytes is the greatest amount of memory that the graph may keep: descriptors, its own pool, and both copies of
	// these while it grows. The names of a Named and the memory of calls are not included (package structures). 0: no
	// limit. An update that needs more returns a *structures.PendingError around a *vk.LimitError.
	MaxBytes uint64
	// Seed varies the hash function.
	Seed uint32
	// Tile is the number of lanes that work on one slab together, in every kernel: a power of two, at most 8 and the
	// subgroup size. 0: for each kernel, the number that measured best for the slab hash on this type of device.
	Tile int
	// Timed makes the device time the stages of Build, Rehash and DeleteVertices, for Stats.Timings.
	Timed bool
	// Progress, if not nil, is called with the progress of long calls.
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
	if err := edgelist.CheckVertices(o.Vertices); err != nil {
		return err
	}
	switch {
	case o.Capacity > MaxVertices:
		return &vk.OptionError{Option: "Capacity",
			Reason: fmt.Sprintf("%d, but a graph has at most %d vertices", o.Capacity, MaxVertices)}
	case !(o.Load >= minLoad && o.Load <= maxLoad):
		return &vk.OptionError{Option: "Load",
			Reason: fmt.Sprintf("%g is not between %g and %g", o.Load, minLoad, maxLoad)}
	case !(o.MaxLoad >= max(o.Load, 1)) || o.MaxLoad > 1<<20:
		return &vk.OptionError{Option: "MaxLoad",
			Reason: fmt.Sprintf("%g is not between %g and 2^20", o.MaxLoad, max(o.Load, 1))}
	case o.Tile < 0 || o.Tile > maxTile || o.Tile&(o.Tile-1) != 0:
		return &vk.OptionError{Option: "Tile",
			Reason: fmt.Sprintf("%d is not a power of two up to %d", o.Tile, maxTile)}
	case o.Tile > d.SubgroupSize():
		return &vk.OptionError{Option: "Tile",
			Reason: fmt.Sprintf("%d is more than the %d lanes of a subgroup", o.Tile, d.SubgroupSize())}
	}
	return nil
}

func (o *Options) rules() edgelist.Rules {
	return edgelist.Rules{Directed: o.Directed, Weighted: o.Weighted, SelfLoops: o.SelfLoops}
}

// tiles has the tile width of each sort of kernel.
type tiles struct{ find, update, walk int }

func tilesOf(d *vk.Device, wish int) tiles {
	if wish != 0 {
		return tiles{wish, wish, wish}
	}
	find, update, walk := slabhash.Tiles(d)
	return tiles{find, update, walk}
}
