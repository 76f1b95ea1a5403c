// Package graph is a dynamic graph in GPU memory. Edges and vertices come and go in batches at the device's speed, and
// queries and analytics (package analytics) read the graph where it is. It follows chapter 5 of Awad, Fully Concurrent
// GPU Data Structures (2022), and Awad, Ashkiani, Porumbescu and Owens, Dynamic Graphs on the GPU (2020). Package
// ordered has graphs with edges in order and with snapshots.
//
// Vertices are the numbers 0, 1, 2, … Use Named for other ids. The adjacency of each vertex is a hash table of its own,
// on the slabs of a pool. It has no slab if the vertex has no neighbors, one slab if it has few, and as many buckets as
// the degree needs if it has many. So a search for an edge reads about one slab, whatever the degree, and many tiles
// work on a hub at the same time.
//
// The first edge of a vertex adds it to the graph; so do InsertVertices and Options.Vertices. They also add all
// vertices with lesser numbers, without edges. The vertices of a graph are therefore 0 to n-1, except those that
// DeleteVertices has deleted and that were not added again. There is at most one edge from a vertex to another. In a
// graph with weights, the weight of an edge is a word: an integer, or the bits of a float32 (Float32Bits).
//
// As everywhere in vkds there are three ways to use a graph. Methods that take Go slices copy a batch to the device and
// do all that it needs. The calls of Graph.On record the same work on a stream, over device buffers, and do not wait. A
// shader of your own may include graph.glsl and get the graph's Description in its push constants (Graph.InShaders).
package graph

import (
	"context"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/handle"
	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/sequential"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// Graph is a dynamic graph. Several goroutines may use one. Queries run concurrently. Calls that change the graph, or
// another structure in its pool, run alone, in the order in which they came. So calls with slices are linearizable:
// each takes effect as a whole. structures.Dictionary describes contexts and errors.
type Graph struct {
	h        handle.Handle
	memory   *vk.Budget // for memory that the graph keeps
	o        Options
	slots    int // in a slab
	tiles    tiles
	order    *sequential.Order
	bulk     *primitives.Primitives
	stages   stages
	scratch  recording.Scratch      // for calls that run alone, on the graph's stream
	host     *vk.HostBuffer[uint32] // for calls that run alone; used after recording.Run, which waits
	reads    vk.Uses                // of the graph's memory, by lookups
	vertices *vk.Buffer[uint32]
	counters *vk.Buffer[uint32]
	hubs     hubs
	visits   uint32 // the visit budget, for each lane of a tile
	failures uint32 // of the pool, when last read
}

const (
	workgroup = 64
	slabWords = 32

	vertexWords = 4 // of a descriptor (graph.glsl)

	// The counters, in words (graph.glsl).
	countExtent  = 0
	countDeleted = 1
	countLoops   = 2
	countFull    = 3
	countWanted  = 4
	counterWords = 8

	deleted = 1 << 31 // of a state: GRAPH_DELETED
)

// New makes a graph without edges. Errors: *vk.OptionError; *structures.CapacityError, before anything is
// allocated, if there is too little memory for the options; *vk.OutOfMemoryError.
func New(ctx context.Context, d *vk.Device, o Options) (*Graph, error) {
	if err := d.Err(); err != nil {
		return nil, err
	}
	if err := o.complete(d); err != nil {
		return nil, err
	}
	var pool *slabs.Pool // a shared one
	if o.Pool != nil {
		pool = slabs.Of(o.Pool)
		if err := pool.Accept(d); err != nil {
			return nil, err
		}
	}
	memory := d.Budget("MaxBytes", o.MaxBytes)
	if err := memory.Fits(uint64(o.Capacity) * vertexWords * 4); err != nil {
		option := "Capacity"
		if o.Vertices == o.Capacity {
			option = "Vertices"
		}
		return nil, &structures.CapacityError{Option: option, Asked: o.Capacity, Err: err}
	}
	g := &Graph{
		o: o, slots: slabhash.SlotsAt(structures.Bits32, !o.Weighted), tiles: tilesOf(d, o.Tile),
		scratch: recording.NewScratch(d), stages: newStages(d), bulk: primitives.New(d, primitives.Options{}),
		order: sequential.New(d), visits: initialVisits, memory: memory,
	}
	g.h.Open("graph", d, o.Progress)
	err := g.open(ctx, pool)
	if err == nil && g.h.Pool.Untouched() { // else, another call on a shared pool would be waited for
		err = g.inside(ctx, func() error { return g.h.Pool.SetAside(ctx) })
	}
	if err != nil {
		return nil, joint.Error(err, g.free(false))
	}
	return g, nil
}

// open makes what an open graph has. shared is nil for a pool of its own.
func (g *Graph) open(ctx context.Context, shared *slabs.Pool) (err error) {
	if g.h.Stream, err = g.h.Device.NewStream(); err != nil {
		return err
	}
	if g.host, err = vk.NewHostBuffer[uint32](g.memory, max(counterWords, 16)); err != nil {
		return err
	}
	if g.counters, err = vk.NewBuffer[uint32](g.memory, counterWords); err != nil {
		return err
	}
	if err = g.h.Over(ctx, shared, g.poolOptions()); err != nil {
		return err
	}
	words := make([]uint32, counterWords)
	words[countExtent] = uint32(g.o.Vertices)
	if err = g.counters.Upload(ctx, 0, words); err != nil {
		return err
	}
	return g.growVertices(ctx, max(g.o.Capacity, 64))
}

// poolOptions returns the options of the graph's own pool.
func (g *Graph) poolOptions() slabs.Options {
	return slabs.Options{MaxBytes: g.o.MaxBytes, Memory: g.memory}
}

// most returns the average number of edges of a bucket above which a vertex gets more buckets.
func (g *Graph) most() uint32 { return uint32(float64(g.slots) * g.o.MaxLoad) }

// each returns the average number of edges of the buckets that a vertex gets, at least 1.
func (g *Graph) each() float32 { return float32(max(1, float64(g.slots)*g.o.Load)) }

func (g *Graph) description() Description {
	return Description{
		Pool: alloc.PoolDescription(g.h.Pool.Description()), Vertices: g.vertices.Address(),
		Counters: g.counters.Address(),
		Capacity: uint32(g.capacity()), Seed: g.o.Seed, Most: g.most(),
	}
}

// capacity returns the number of descriptors.
func (g *Graph) capacity() int { return g.vertices.Len() / vertexWords }

type freshPush struct {
	Vertices     uint64
	First, Count uint32
}

// growVertices makes room for at least that many vertices. After an error the graph is unchanged.
func (g *Graph) growVertices(ctx context.Context, capacity int) error {
	have := g.capacity()
	if capacity <= have {
		return nil
	}
	if err := g.h.Uses.Rest(ctx); err != nil {
		return err
	}
	larger, err := vk.NewBuffer[uint32](g.memory, vertexWords*capacity)
	if err != nil {
		return err
	}
	err = recording.Run(g.h.Stream, func() error {
		k, err := freshKernel().Kernel(g.h.Kernels, g.h.Stream)
		if err != nil {
			return err
		}
		if have != 0 {
			g.h.Stream.Copy(larger, 0, g.vertices, 0, g.vertices.Len())
		}
		k.Dispatch(g.h.Stream, groupsOf(capacity-have),
			freshPush{larger.Address(), uint32(have), uint32(capacity - have)})
		return nil
	})
	if err != nil {
		larger.Free()
		return err
	}
	if have != 0 {
		g.vertices.Free()
		g.h.Meter.Grow()
	}
	g.vertices = larger
	g.hold()
	return nil
}

// hold updates how much memory the graph has.
func (g *Graph) hold() { g.h.Meter.Hold(g.vertices.Bytes() + g.counters.Bytes() + g.hubs.bytes()) }

// handle returns the handle of the graph, or one that is not open if g is nil.
func (g *Graph) handle() *handle.Handle {
	if g == nil {
		return new(handle.Handle)
	}
	return &g.h
}

// made reports whether a constructor has made the graph.
func (g *Graph) made() bool { return g.handle().Gate != nil }

// inside runs call as a call that may change the graph.
func (g *Graph) inside(ctx context.Context, call func() error) error {
	if err := g.handle().EnterAfterAll(ctx); err != nil {
		return err
	}
	defer g.h.Leave()
	return call()
}

// Close frees the graph's memory after the work that streams have recorded or submitted, and returns the slabs of a
// shared pool. If the pool is shared and work on the graph is not submitted, it returns vk.ErrUnsubmitted, and the
// graph stays open.
func (g *Graph) Close() error { return g.handle().Close(g.free) }

// free frees the memory of the graph. shares says that the graph has slabs of a pool that stays open.
func (g *Graph) free(shares bool) (err error) {
	if shares {
		err = g.releaseAll()
	}
	err = joint.Error(err, g.h.Free(), g.bulk.Close())
	g.order.Close()
	g.stages.release(&g.h.Uses)
	g.scratch.Release(&g.h.Uses)
	g.host.Free()
	g.h.Uses.Free(func() {
		g.vertices.Free()
		g.counters.Free()
		g.hubs.free()
	})
	return err
}

// changing records a change, completely or not at all, after the lookups of other streams.
func (g *Graph) changing(s *vk.Stream, record func() error) error {
	return recording.After(s, &g.reads, record, &g.h.Uses, g.h.Pool.Uses(), &g.h.Changes)
}

// reading records lookups, completely or not at all, after the changes of other streams.
func (g *Graph) reading(s *vk.Stream, record func() error) error {
	return recording.After(s, &g.h.Changes.Uses, record, &g.h.Uses, g.h.Pool.Uses(), &g.reads)
}

// groupsOf returns how many workgroups have that many invocations.
func groupsOf(invocations int) int { return (invocations + workgroup - 1) / workgroup }

// counts returns the counters as they are now. The caller has entered.
func (g *Graph) counts(ctx context.Context, s *vk.Stream) (words [counterWords]uint32, err error) {
	if err := s.Wait(ctx); err != nil {
		return words, err
	}
	return words, g.counters.Download(ctx, 0, words[:])
}

// Device returns the device that the graph is on.
func (g *Graph) Device() *vk.Device { return g.handle().Device }
