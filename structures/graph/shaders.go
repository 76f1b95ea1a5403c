package graph

import (
	"context"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/vk"
)

// Description is a graph as kernels see it: Graph of shaders/include/graph.glsl. Embed it in the push constants of a
// kernel of your own. It holds until the next call on the graph that may grow it: any insertion from Go slices, Finish,
// DeleteVertices, Rehash, Clear, Close. InShaders.UsedOn keeps those back from the memory.
type Description struct {
	Pool     alloc.PoolDescription
	Vertices uint64 // address of the descriptors
	Counters uint64
	Capacity uint32 // descriptors
	Seed     uint32
	Most     uint32 // keys a bucket from which on a vertex should get more
}

// InShaders is a graph for kernels of your own (Graph.InShaders).
type InShaders struct{ g *Graph }

// InShaders returns the graph for kernels of your own.
func (g *Graph) InShaders() InShaders { return InShaders{g} }

// Description describes the graph to kernels. Of a graph that is closed, or whose pool is, it is the zero value.
func (k InShaders) Description() Description {
	leave, _ := k.g.turns().Take()
	defer leave()
	if k.g.turns().Err() != nil {
		return Description{}
	}
	return k.g.description()
}

// Constants are the specialization constants that a kernel over this graph needs, by name: TILE as it is best for
// updates, and those of the pool. They may change when the graph grows.
func (k InShaders) Constants() map[string]uint32 {
	if !k.g.made() {
		return nil
	}
	c := k.g.pool.Constants()
	c["TILE"] = uint32(k.g.tiles.update)
	return c
}

// Forms returns all values that Constants may have while the graph exists, in no order: two, unless Options.MaxBytes
// keeps the graph's pool small. Use it to make kernels of your own before they are needed. Of a graph that is closed it
// is nil.
func (k InShaders) Forms() []map[string]uint32 {
	if k.g.turns().Err() != nil {
		return nil
	}
	all := k.g.pool.Forms()
	for _, c := range all {
		c["TILE"] = uint32(k.g.tiles.update)
	}
	return all
}

// Use runs f while no call changes the graph, or another structure that shares its pool: f has kernels of its own look
// at the graph as it is described, and waits for them. It must not call what changes the graph, nor, since that may
// wait behind a change, its queries. Errors: vk.ErrClosed, the context's if that has ended before, and f's.
func (k InShaders) Use(ctx context.Context, f func(Description) error) error {
	if err := k.g.enterShared(ctx); err != nil {
		return err
	}
	defer k.g.gate.LeaveShared()
	return f(k.g.description())
}

// UsedOn notes that what was recorded into a stream so far names the graph's memory as it is described: kernels of your
// own, because those of the graph's methods do so themselves. Calls that replace that memory wait until the work has
// ended, or return vk.ErrUnsubmitted where it was not submitted.
func (k InShaders) UsedOn(s *vk.Stream) {
	g := k.g
	leave, open := g.turns().Take()
	defer leave()
	if open {
		g.uses.On(s)
		g.pool.Uses().On(s)
		g.changes.On(s)
	}
}

// Grow makes room for what a kernel of your own has left pending by graph_apply, so many operations, once its stream
// was waited for: descriptors for vertices that had none, buckets for those that insertions wait for, slabs. Then
// dispatch them again. stuck: none was finished since the last time, so something else has to be tried. Errors:
// vk.ErrClosed, vk.ErrUnsubmitted, *vk.OutOfMemoryError, *vk.LimitError, *structures.StuckError, the context's.
func (k InShaders) Grow(ctx context.Context, pending int, stuck bool) error {
	g := k.g
	if err := g.enter(ctx); err != nil {
		return err
	}
	defer g.gate.Leave()
	g.changes.Made()
	return g.makeRoom(ctx, pending, stuck)
}
