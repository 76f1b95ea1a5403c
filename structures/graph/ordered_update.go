package graph

import (
	"context"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// InsertEdges inserts each edge, as Graph.InsertEdges does. Errors: vk.ErrClosed, *structures.LengthError and
// *structures.KindError before anything is done; *structures.PendingError, with the statuses that say what is done,
// around *structures.LimitError, before anything is done where a vertex is MaxVertices or more, *vk.OutOfMemoryError,
// vk.ErrUnsubmitted where somebody has recorded queries at a snapshot's At and not submitted them, or the context's. An
// edge of an undirected graph is then in both adjacencies or in neither.
func (g *Ordered) InsertEdges(ctx context.Context, e Edges) ([]structures.Status, error) {
	return g.update(ctx, structures.Insert, e)
}

// AddEdges inserts each edge, or adds its weight to that of the edge that is there, modulo 2^32.
func (g *Ordered) AddEdges(ctx context.Context, e Edges) ([]structures.Status, error) {
	return g.update(ctx, structures.InsertAdd, e)
}

// MinEdges is AddEdges with the lesser of the two weights in place of the sum.
func (g *Ordered) MinEdges(ctx context.Context, e Edges) ([]structures.Status, error) {
	return g.update(ctx, structures.InsertMin, e)
}

// MaxEdges is AddEdges with the greater of the two weights in place of the sum.
func (g *Ordered) MaxEdges(ctx context.Context, e Edges) ([]structures.Status, error) {
	return g.update(ctx, structures.InsertMax, e)
}

// DeleteEdges removes each edge: Deleted or Absent. Of equal edges in the batch one is the one Deleted.
func (g *Ordered) DeleteEdges(ctx context.Context, e Edges) ([]structures.Status, error) {
	return g.update(ctx, structures.Delete, e)
}

func (g *Ordered) update(ctx context.Context, kind structures.Kind, e Edges) ([]structures.Status, error) {
	status := make([]structures.Status, len(e.From))
	return pipeline.Made(status, g.UpdateEdgesInto(ctx, kind, e, status))
}

// UpdateEdgesInto does a batch of one kind, those of Graph.UpdateEdgesInto. Errors: those of InsertEdges.
func (g *Ordered) UpdateEdgesInto(ctx context.Context, kind structures.Kind, e Edges,
	status []structures.Status) error {
	if !g.made() {
		return vk.ErrNotOpen
	}
	if err := g.gate.Err(); err != nil {
		return err
	}
	if err := g.o.admits(kind, &e, status); err != nil {
		return err
	}
	if status == nil {
		status = make([]structures.Status, e.Len())
	}
	arcs := g.o.arcsOf(e) // in front of the gate, where it holds nobody up
	if err := g.enterBy(ctx, g.gate.Enter); err != nil {
		return pipeline.NotBegun(status, e.Len(), err)
	}
	defer g.gate.Leave()
	return g.do(ctx, kind, e, arcs, status)
}

// do does a batch, whose arcs are these, by who has entered.
func (g *Ordered) do(ctx context.Context, kind structures.Kind, e Edges, arcs arcsOfEdges,
	status []structures.Status) error {
	b := orderedBatch{arcsOfEdges: arcs, status: make([]structures.Status, len(arcs.keys))}
	if !kind.Inserts() {
		b.values = nil
	} else if err := b.checkVertices(); err != nil {
		return pipeline.NotBegun(status, e.Len(), err)
	}
	panics := true
	defer func() {
		if panics { // the user's Progress: of some edges one arc may be done, and the other one not
			_ = g.done(ctx, e, b, status, context.Canceled)
		}
	}()
	err := g.tree.UpdateInto(ctx, g.o.kind(kind), b.keys, b.values, b.status)
	panics = false
	return pipeline.Stopped(status, 0, g.done(ctx, e, b, status, err))
}

// done has both arcs of an edge agree after a batch that err has stopped, and says what has become of the edges.
func (g *Ordered) done(ctx context.Context, e Edges, b orderedBatch, status []structures.Status, err error) error {
	if err != nil && !g.o.Directed {
		g.repairing.Store(true)
		defer g.repairing.Store(false)
		err = b.repair(context.WithoutCancel(ctx), g.tree, pipeline.Cause(err))
	}
	next, extent := 0, g.extent.Load()
	for i, from := range e.From {
		n := g.o.arcsOfEdge(from, e.To[i])
		status[i] = structures.Absent
		if n != 0 {
			status[i] = b.status[next]
		}
		if status[i] == structures.Inserted {
			extent = max(extent, int64(from)+1, int64(e.To[i])+1)
		}
		if from == e.To[i] {
			g.loops.Add(change(status[i]))
		}
		next += n
	}
	g.extent.Store(extent)
	return err
}

// change is by how much an operation has changed how many edges there are.
func change(s structures.Status) int64 {
	switch s {
	case structures.Inserted:
		return 1
	case structures.Deleted:
		return -1
	}
	return 0
}

// DeleteEdgesOf deletes all edges that any of the vertices is an end of, and returns how many that were. In a directed
// graph those that lead to one are found by a look at all arcs, which takes the time of an Export. Errors: those of
// DeleteEdges.
func (g *Ordered) DeleteEdgesOf(ctx context.Context, vertices []uint32) (edges int, err error) {
	if !g.made() {
		return 0, vk.ErrNotOpen
	}
	if err := g.enterBy(ctx, g.gate.Enter); err != nil {
		return 0, err
	}
	defer g.gate.Leave()
	e, err := g.edgesOf(ctx, vertices)
	if err != nil {
		return 0, err
	}
	status := make([]structures.Status, e.Len())
	err = g.do(ctx, structures.Delete, e, g.o.arcsOf(e), status)
	for _, s := range status {
		edges -= int(change(s))
	}
	return edges, err
}
