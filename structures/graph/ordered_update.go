package graph

import (
	"context"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// InsertEdges inserts each edge, as Graph.InsertEdges does. Errors: vk.ErrClosed, *structures.LengthError and
// *structures.KindError before anything is done; *structures.PendingError, with the statuses that say what is done,
// around *vk.LimitError, before anything is done where a vertex is MaxVertices or more, *vk.OutOfMemoryError,
// vk.ErrUnsubmitted where somebody has recorded queries at a snapshot's At and not submitted them, or the context's. An
// edge of an undirected graph is then in both adjacencies or in neither.
func (g *Ordered) InsertEdges(ctx context.Context, e Edges) ([]structures.Status, error) {
	return updated(ctx, g, structures.Insert, e)
}

// DeleteEdges removes each edge: Deleted or Absent. Of equal edges in the batch one is the one Deleted.
func (g *Ordered) DeleteEdges(ctx context.Context, e Edges) ([]structures.Status, error) {
	return updated(ctx, g, structures.Delete, e)
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
	if err := g.now.o.admits(kind, &e, status); err != nil {
		return err
	}
	if status == nil {
		status = make([]structures.Status, len(e.From))
	}
	arcs := g.now.o.arcsOf(e) // in front of the gate, where it holds nobody up
	ctx, end := g.now.progress.Begin(ctx)
	defer end()
	if err := g.gate.Enter(ctx); err != nil {
		return pipeline.NotBegun(status, len(e.From), err)
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
		return pipeline.NotBegun(status, len(e.From), err)
	}
	panics := true
	defer func() {
		if panics { // the user's Progress: of some edges one arc may be done, and the other one not
			_ = g.done(ctx, e, b, status, context.Canceled)
		}
	}()
	err := g.tree.UpdateInto(ctx, g.now.o.kind(kind), b.keys, b.values, b.status)
	panics = false
	return pipeline.Stopped(status, 0, g.done(ctx, e, b, status, err))
}

// done has both arcs of an edge agree after a batch that err has stopped, and says what has become of the edges.
func (g *Ordered) done(ctx context.Context, e Edges, b orderedBatch, status []structures.Status, err error) error {
	if err != nil && !g.now.o.Directed {
		g.repairing.Store(true)
		defer g.repairing.Store(false)
		err = b.repair(context.WithoutCancel(ctx), g.tree, pipeline.Cause(err))
	}
	next, extent := 0, g.now.extent.Load()
	for i, from := range e.From {
		n := g.now.o.arcsOfEdge(from, e.To[i])
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
