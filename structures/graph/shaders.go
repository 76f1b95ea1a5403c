package graph

import (
	"context"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/handle"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Description describes a graph to kernels: Graph of shaders/include/graph.glsl. Embed it in the push constants of your
// own kernel. InShaders.Description returns it.
type Description struct {
	Pool     alloc.PoolDescription
	Vertices uint64 // address of the descriptors
	Counters uint64
	Capacity uint32 // descriptors
	Seed     uint32
	Most     uint32 // average number of keys of a bucket above which a vertex should get more buckets
}

// InShaders is for your own kernels that include shaders/include/graph.glsl.
//
// The result of Description is valid until the next call on the graph that may give it more memory: any insertion from
// Go slices, Finish, DeleteVertices, Rehash, Clear, Close, or Grow. If the graph or its pool is closed, it is the zero
// value. Constants may change when the graph grows. After UsedOn, calls that replace the graph's memory wait for the
// work, or return vk.ErrUnsubmitted if it was not submitted. Methods of the graph that record work call UsedOn
// themselves.
type InShaders interface {
	structures.InShaders[Description]

	// Forms returns all values that Constants may have from now on, in any order: two, until the graph's pool grows
	// beyond one super block, or one, if Options.MaxBytes keeps it below. Use it to make your own kernels before they
	// are needed. If the graph is closed, it returns nil.
	Forms() []map[string]uint32

	// Use calls f while no call changes the graph or another structure that shares its pool. f runs kernels on the
	// graph and waits for them. It must not call methods of the graph: they may wait for a change, which waits for f.
	// Errors: vk.ErrClosed, the context's if it has ended before, and f's.
	Use(ctx context.Context, f func(Description) error) error

	// Grow makes room for operations that graph_apply has left pending: descriptors for new vertices, buckets for
	// vertices that insertions wait for, slabs. Call it after waiting for the kernel's stream, and then dispatch the
	// operations again. stuck says that no operation was finished since the last call, so that Grow tries something
	// else. Errors: vk.ErrClosed, vk.ErrUnsubmitted, *vk.OutOfMemoryError, *vk.LimitError,
	// *structures.StuckError, the context's.
	Grow(ctx context.Context, pending int, stuck bool) error
}

// InShaders is for your own kernels that use the graph.
func (g *Graph) InShaders() InShaders { return inShaders{g} }

// inShaders is InShaders.
type inShaders struct{ g *Graph }

func (x inShaders) Description() Description { return handle.Describe(x.g.handle(), x.g.description) }

func (x inShaders) Constants() map[string]uint32 {
	if !x.g.made() {
		return nil
	}
	c := x.g.h.Pool.Constants()
	c["TILE"] = uint32(x.g.tiles.update)
	return c
}

func (x inShaders) Forms() []map[string]uint32 {
	if x.g.handle().Err() != nil {
		return nil
	}
	all := x.g.h.Pool.Forms()
	for _, c := range all {
		c["TILE"] = uint32(x.g.tiles.update)
	}
	return all
}

func (x inShaders) Use(ctx context.Context, f func(Description) error) error {
	if err := x.g.handle().EnterQuery(ctx); err != nil {
		return err
	}
	defer x.g.h.LeaveShared()
	return f(x.g.description())
}

func (x inShaders) UsedOn(s *vk.Stream) { x.g.handle().UsedOn(s) }

func (x inShaders) Grow(ctx context.Context, pending int, stuck bool) error {
	g := x.g
	if err := g.handle().EnterAfterAll(ctx); err != nil {
		return err
	}
	defer g.h.Leave()
	g.h.Changes.Made()
	return g.makeRoom(ctx, pending, stuck)
}
