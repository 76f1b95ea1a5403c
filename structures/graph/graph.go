// Package graph is a dynamic graph in GPU memory: chapter 5 of Awad, Fully Concurrent GPU Data Structures (2022), after
// Awad, Ashkiani, Porumbescu and Owens, Dynamic Graphs on the GPU (2020), over Vulkan. Edges and vertices come and go
// in batches at the device's speed, and the graph is asked and analysed where it is.
//
// Vertices are numbers: 0, 1, 2, … (dense ids; Named has others). Each has its adjacency, a hash table of its own on
// the slabs of a pool: one slab where it has few neighbours, none where it has none, and as many buckets as its degree
// asks for where it has many. So an edge is found in about one slab, whatever the degree, and a hub is many tiles'
// work.
//
// A vertex is there from its first edge on, or since InsertVertices or Options.Vertices, and so are those with lesser
// numbers, without edges: the vertices of a graph are 0 to n-1, but for those that DeleteVertices has deleted and that
// have not come back by either way. An edge may come once; its weight is a word, if the graph has weights.
//
// There are three ways in, as everywhere in vkds. Methods that take Go slices copy a batch to the device and do
// whatever it needs. Those of Graph.On record the same work on a stream, over device buffers, and do not wait. A shader
// of your own may include graph.glsl and take the graph's Description in its push constants (Graph.InShaders).
package graph

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/sequential"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// Graph is a dynamic graph. Several goroutines may use one: queries run beside one another, and what changes it, or
// another structure that shares its pool, runs alone, behind the calls that came before (structures.Dictionary says
// more, of contexts and errors, too). So calls with slices are linearizable: each takes effect as a whole.
type Graph struct {
	d         *vk.Device
	memory    *vk.Budget // of what the graph keeps
	o         Options
	slots     int // edges in a slab
	pool      *slabs.Pool
	ownPool   bool
	tiles     tiles
	stream    *vk.Stream
	pipelines *pipeline.Pool
	order     *sequential.Order
	bulk      *primitives.Primitives
	kernels   *recording.Kernels
	own       *recording.Own
	stages    stages
	scratch   recording.Scratch      // of calls that run alone, on the graph's stream
	host      *vk.HostBuffer[uint32] // of calls that run alone: read and cleared behind recording.Run, which waits
	meter     recording.Meter
	gate      *gate.Gate
	progress  *gate.Progress
	uses      vk.Uses           // of what follows
	reads     vk.Uses           // these of them that look edges up
	changes   recording.Changes // and that change the graph
	vertices  *vk.Buffer[uint32]
	counters  *vk.Buffer[uint32]
	hubs      hubs
	visits    uint32 // slabs that each lane of a tile may visit in a dispatch
	failures  uint32 // of the pool, as last seen
	prepared  atomic.Bool
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
// allocated, where there is no memory for what the options ask for; *vk.OutOfMemoryError.
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
		return nil, &structures.CapacityError{Option: "Capacity", Asked: o.Capacity, Err: err}
	}
	g := &Graph{
		d: d, o: o, slots: slabhash.SlotsAt(structures.Bits32, !o.Weighted), pool: pool, tiles: tilesOf(d, o.Tile),
		kernels: recording.NewKernels(d), own: recording.NewOwn(d), scratch: recording.NewScratch(d),
		stages: newStages(d), bulk: primitives.New(d, primitives.Options{}), visits: initialVisits,
		memory: memory,
	}
	if err := g.open(ctx); err != nil {
		return nil, joint.Error(err, g.free(false))
	}
	return g, nil
}

func (g *Graph) open(ctx context.Context) (err error) {
	if g.stream, err = g.d.NewStream(); err != nil {
		return err
	}
	if g.host, err = vk.NewHostBuffer[uint32](g.memory, max(counterWords, 16)); err != nil {
		return err
	}
	if g.counters, err = vk.NewBuffer[uint32](g.memory, counterWords); err != nil {
		return err
	}
	g.pipelines, g.order = pipeline.NewPool(g.d), sequential.New(g.d)
	if g.pool == nil {
		if g.pool, err = slabs.New(ctx, g.d, g.poolOptions()); err != nil {
			return err
		}
		g.ownPool = true
	}
	g.kernels.Over(g.pool.Constants)
	g.gate = gate.Within(g.pool.Gate())
	g.progress = gate.NewProgress(g.o.Progress)
	words := make([]uint32, counterWords)
	words[countExtent] = uint32(g.o.Vertices)
	if err = g.counters.Upload(ctx, 0, words); err != nil {
		return err
	}
	return g.growVertices(ctx, max(g.o.Capacity, 64))
}

// poolOptions are those of the graph's own pool.
func (g *Graph) poolOptions() slabs.Options {
	return slabs.Options{MaxBytes: g.o.MaxBytes, Memory: g.memory}
}

// most is how many edges a bucket has on average where a vertex gets more of them.
func (g *Graph) most() uint32 { return uint32(float64(g.slots) * g.o.MaxLoad) }

// each is how many edges a bucket has on average where a vertex gets several: one at least.
func (g *Graph) each() float32 { return float32(max(1, float64(g.slots)*g.o.Load)) }

func (g *Graph) description() Description {
	return Description{
		Pool: alloc.PoolDescription(g.pool.Description()), Vertices: g.vertices.Address(),
		Counters: g.counters.Address(),
		Capacity: uint32(g.capacity()), Seed: g.o.Seed, Most: g.most(),
	}
}

// capacity is how many vertices there are descriptors for.
func (g *Graph) capacity() int { return g.vertices.Len() / vertexWords }

type freshPush struct {
	Vertices     uint64
	First, Count uint32
}

// growVertices makes room for so many vertices at least. After an error the graph is as it was.
func (g *Graph) growVertices(ctx context.Context, capacity int) error {
	have := g.capacity()
	if capacity <= have {
		return nil
	}
	if err := checkExtent(int64(capacity)); err != nil {
		return err
	}
	if err := g.uses.Rest(ctx); err != nil {
		return err
	}
	larger, err := vk.NewBuffer[uint32](g.memory, vertexWords*capacity)
	if err != nil {
		return err
	}
	err = recording.Run(g.stream, func() error {
		k, err := freshKernel().Kernel(g.kernels, g.stream)
		if err != nil {
			return err
		}
		if have != 0 {
			g.stream.Copy(larger, 0, g.vertices, 0, int(g.vertices.Bytes()))
		}
		k.Dispatch(g.stream, groupsOf(capacity-have),
			freshPush{larger.Address(), uint32(have), uint32(capacity - have)})
		return nil
	})
	if err != nil {
		larger.Free()
		return err
	}
	if have != 0 {
		g.vertices.Free()
		g.meter.Grow()
	}
	g.vertices = larger
	g.hold()
	return nil
}

// hold notes how much memory there is.
func (g *Graph) hold() { g.meter.Hold(g.vertices.Bytes() + g.counters.Bytes() + g.hubs.bytes()) }

// enter begins a call that may change the graph, when its turn has come, and after the work of all streams; leave ends
// it.
func (g *Graph) enter(ctx context.Context) error {
	if err := g.turns().Enter(ctx); err != nil {
		return err
	}
	return gate.Unless(g.gate.Leave, func() error { return g.uses.Rest(ctx) })
}

// made says whether a constructor has made the graph.
func (g *Graph) made() bool { return g != nil && g.gate != nil }

// turns is the gate, nil of a graph that is not open.
func (g *Graph) turns() *gate.Gate {
	if g == nil {
		return nil
	}
	return g.gate
}

// told is what calls report to, nil of a graph that is not open.
func (g *Graph) told() *gate.Progress {
	if g == nil {
		return nil
	}
	return g.progress
}

// inside does a call that may change the graph.
func (g *Graph) inside(ctx context.Context, call func() error) error {
	if err := g.enter(ctx); err != nil {
		return err
	}
	defer g.gate.Leave()
	return call()
}

// enterShared begins a call that changes nothing of the graph but what locks of its own guard, after the changes of all
// streams.
func (g *Graph) enterShared(ctx context.Context) error {
	if err := g.turns().EnterShared(ctx); err != nil {
		return err
	}
	return gate.Unless(g.gate.LeaveShared, func() error { return g.changes.Rest(ctx) })
}

// Close frees the graph's memory, and gives the slabs of a shared pool back. What streams have recorded or submitted is
// allowed to end first; with a shared pool, and work recorded that was not submitted, it returns vk.ErrUnsubmitted, and
// the graph stays open.
func (g *Graph) Close() error {
	leave, open, err := g.turns().Shut()
	if err != nil {
		return err
	}
	defer leave()
	if !open {
		return nil
	}
	// A shared pool that is open outlives the graph: its slabs go back.
	shares := !g.ownPool && g.gate.Err() == nil
	if shares {
		if err := g.uses.Rest(context.Background()); errors.Is(err, vk.ErrUnsubmitted) {
			return err
		}
	}
	g.gate.End()
	return g.free(shares)
}

// free frees what the graph has. shares: it has slabs of a pool that stays.
func (g *Graph) free(shares bool) error {
	var err error
	if g.stream != nil {
		if shares {
			err = g.releaseAll()
		}
		err = joint.Error(err, g.stream.Close())
	}
	if g.pipelines != nil {
		err = joint.Error(err, g.pipelines.Close())
		g.order.Close()
	}
	err = joint.Error(err, g.bulk.Close())
	g.kernels.Close()
	g.own.Release(&g.uses)
	g.stages.release(&g.uses)
	g.scratch.Release(&g.uses)
	if g.host != nil {
		g.host.Free()
	}
	g.uses.Free(func() {
		g.vertices.Free()
		g.counters.Free()
		g.hubs.free()
	})
	g.meter.Hold(0)
	if g.ownPool {
		err = joint.Error(err, g.pool.Close())
	}
	return err
}

// changing records what changes the graph, all of it or nothing, after the lookups of other streams.
func (g *Graph) changing(s *vk.Stream, record func() error) error {
	return recording.After(s, &g.reads, record, &g.uses, g.pool.Uses(), &g.changes)
}

// reading records lookups, all of them or nothing, after the changes of other streams.
func (g *Graph) reading(s *vk.Stream, record func() error) error {
	return recording.After(s, &g.changes.Uses, record, &g.uses, g.pool.Uses(), &g.reads)
}

// groupsOf returns how many workgroups have so many invocations.
func groupsOf(invocations int) int { return (invocations + workgroup - 1) / workgroup }

// counts are the counters as they are now. Who calls has entered.
func (g *Graph) counts(ctx context.Context, s *vk.Stream) (words [counterWords]uint32, err error) {
	if err := s.Wait(ctx); err != nil {
		return words, err
	}
	return words, g.counters.Download(ctx, 0, words[:])
}

// Options are those that the graph was made with, completed. Of a graph that Load has made they say what the file said.
func (g *Graph) Options() Options {
	if !g.made() {
		return Options{}
	}
	return g.o
}

// Device returns the device that the graph is on.
func (g *Graph) Device() *vk.Device {
	if !g.made() {
		return nil
	}
	return g.d
}

// Metrics are what the host knows, without a look at the graph and without a turn. Those of a shared pool are in them.
func (g *Graph) Metrics() structures.Metrics {
	if !g.made() {
		return structures.Metrics{}
	}
	m := g.meter.Metrics(g.d)
	m.Bytes += g.pool.Bytes()
	m.Growths += g.pool.Growths()
	return m
}
