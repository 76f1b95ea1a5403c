package ordered

import (
	"context"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/internal/edgelist"
	"github.com/vkds/vkds/vk"
)

// InsertEdges inserts each edge, as graph.Graph.InsertEdges. Errors:
//   - vk.ErrClosed, *structures.LengthError and *structures.KindError, before anything is done;
//   - *structures.PendingError around *graph.VertexError, before anything is done, if a vertex is graph.MaxVertices or
//     more;
//   - *structures.PendingError around *vk.OutOfMemoryError, the context's error, or vk.ErrUnsubmitted if a stream has
//     recorded queries at a snapshot's At and not submitted them. The statuses say which operations are done. An edge
//     of an undirected graph is then in both adjacencies or in neither.
func (g *Graph) InsertEdges(ctx context.Context, e graph.Edges) ([]structures.Status, error) {
	status := make([]structures.Status, len(e.From))
	return pipeline.Made(status, g.UpdateEdgesInto(ctx, structures.Insert, e, status))
}

// DeleteEdges removes each edge: Deleted or Absent. If edges in the batch are equal, one is Deleted.
func (g *Graph) DeleteEdges(ctx context.Context, e graph.Edges) ([]structures.Status, error) {
	status := make([]structures.Status, len(e.From))
	return pipeline.Made(status, g.UpdateEdgesInto(ctx, structures.Delete, e, status))
}

// UpdateEdgesInto does a batch of one kind, as graph.Graph.UpdateEdgesInto. Errors: those of InsertEdges.
func (g *Graph) UpdateEdgesInto(ctx context.Context, kind structures.Kind, e graph.Edges,
	status []structures.Status) error {
	if !g.made() {
		return vk.ErrNotOpen
	}
	if err := g.gate.Err(); err != nil {
		return err
	}
	if err := g.now.rules.CheckUpdate(kind, edgelist.Edges(e), status); err != nil {
		return err
	}
	if !kind.Inserts() {
		e.Weights = nil
	}
	if status == nil {
		status = make([]structures.Status, len(e.From))
	}
	all := arcsOf(g.now.rules, e) // before Enter, so that no other call waits for it
	ctx, end := g.now.progress.Begin(ctx)
	defer end()
	if err := g.gate.Enter(ctx); err != nil {
		return pipeline.NotBegun(status, len(e.From), err)
	}
	defer g.gate.Leave()
	return g.do(ctx, kind, e, all, status)
}

// do does a batch that consists of the arcs all. The caller has entered.
func (g *Graph) do(ctx context.Context, kind structures.Kind, e graph.Edges, all arcs,
	status []structures.Status) error {
	b := batch{arcs: all, status: make([]structures.Status, len(all.keys))}
	if !kind.Inserts() {
		b.values = nil
	} else if err := checkExtent(b.extent); err != nil {
		return pipeline.NotBegun(status, len(e.From), err)
	}
	panics := true
	defer func() {
		if panics { // the caller's Progress, while one arc of an edge is done and the other is not
			_ = g.done(ctx, e, b, status, context.Canceled)
		}
	}()
	err := g.tree.UpdateInto(ctx, g.now.rules.Kind(kind), b.keys, b.values, b.status)
	panics = false
	return pipeline.Stopped(status, 0, g.done(ctx, e, b, status, err))
}

// done makes both arcs of each edge equal after a batch that err has stopped, and writes the statuses of the edges.
func (g *Graph) done(ctx context.Context, e graph.Edges, b batch, status []structures.Status, err error) error {
	if err != nil && !g.now.rules.Directed {
		g.repairing.Store(true)
		defer g.repairing.Store(false)
		err = b.repair(context.WithoutCancel(ctx), g.tree, pipeline.Cause(err))
	}
	next, extent := 0, g.now.extent.Load()
	for i, from := range e.From {
		n := arcsOfEdge(g.now.rules, from, e.To[i])
		status[i] = structures.Absent
		if n != 0 {
			status[i] = b.status[next]
		}
		if status[i] == structures.Inserted {
			extent = max(extent, int64(from)+1, int64(e.To[i])+1)
		}
		if from == e.To[i] {
			g.now.loops.Add(change(status[i]))
		}
		next += n
	}
	g.now.extent.Store(extent)
	return err
}

// checkExtent returns an error if a graph cannot grow to that many vertices.
func checkExtent(extent int64) error {
	if extent > graph.MaxVertices {
		return &graph.VertexError{Vertex: extent - 1, Vertices: graph.MaxVertices}
	}
	return nil
}

// change returns by how much an operation has changed the number of edges.
func change(s structures.Status) int64 {
	switch s {
	case structures.Inserted:
		return 1
	case structures.Deleted:
		return -1
	}
	return 0
}
