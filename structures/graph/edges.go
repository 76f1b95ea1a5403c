package graph

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/sequential"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph/internal/edgelist"
	"github.com/vkds/vkds/vk"
)

// Edges are edges in Go slices. Edge i goes from From[i] to To[i], in an undirected graph between them, and has the
// weight Weights[i]: an integer, or the bits of a float32 (Float32Bits). Weights is nil if the graph has none or the
// call does not use them.
type Edges struct {
	From, To []uint32
	Weights  []uint32
}

// Float32Bits returns the bits of weights that are float32 numbers, in the same memory. A graph keeps them as it keeps
// integers, and analytics.SSSPOptions.FloatWeights reads them. math.Float32frombits converts the weights that queries
// return.
func Float32Bits(weights []float32) []uint32 { return recording.Words(weights) }

// Edge is one edge.
type Edge struct{ From, To, Weight uint32 }

// InsertEdges inserts each edge, or assigns its weight if it is there. The statuses are Inserted or Assigned, Found
// instead of Assigned in a graph without weights, and Absent for a self loop that Options.SelfLoops does not allow.
// Equal edges in a batch, in an undirected graph also opposite ones, are done in their order: the last weight stays.
// The ends of edges become vertices.
//
// Errors of this and the other updates:
//   - vk.ErrClosed, *structures.LengthError and *structures.KindError, before anything is done;
//   - *structures.PendingError around *VertexError, before anything is done, if a vertex is MaxVertices or more;
//   - *structures.PendingError around *vk.OutOfMemoryError, the context's error, or vk.ErrUnsubmitted if a stream has
//     recorded work on the graph and not submitted it. The statuses say which operations are done. An edge of an
//     undirected graph is then in both adjacencies or in neither.
func (g *Graph) InsertEdges(ctx context.Context, e Edges) ([]structures.Status, error) {
	status := make([]structures.Status, len(e.From))
	return pipeline.Made(status, g.UpdateEdgesInto(ctx, structures.Insert, e, status))
}

// DeleteEdges removes each edge: Deleted or Absent. Its ends stay vertices. If edges in the batch are equal, any one of
// them is Deleted. Weights are ignored.
func (g *Graph) DeleteEdges(ctx context.Context, e Edges) ([]structures.Status, error) {
	status := make([]structures.Status, len(e.From))
	return pipeline.Made(status, g.UpdateEdgesInto(ctx, structures.Delete, e, status))
}

// UpdateEdgesInto does a batch of one kind:
//   - Insert, Delete: as InsertEdges and DeleteEdges;
//   - InsertUnique: an edge that is there keeps its weight, and the status is Found;
//   - InsertAdd: an edge that is there gets the sum of the weights as integers, modulo 2^32, and all equal edges in the
//     batch count;
//   - InsertMin, InsertMax: an edge that is there gets the lesser or the greater weight, as integers. Floats from +0 on
//     have the same order; -0 is greater than all of them.
//
// status gets the status of each edge; it may be nil. Errors: those of InsertEdges.
func (g *Graph) UpdateEdgesInto(ctx context.Context, kind structures.Kind, e Edges, status []structures.Status) error {
	if err := g.handle().Err(); err != nil {
		return err
	}
	if err := g.o.rules().CheckUpdate(kind, edgelist.Edges(e), status); err != nil {
		return err
	}
	if !kind.Inserts() {
		e.Weights = nil
	} else if err := checkExtent(edgelist.Extent(e.From, e.To)); err != nil {
		return pipeline.NotBegun(status, len(e.From), err)
	}
	ctx, end := g.handle().Progress.Begin(ctx)
	defer end()
	if err := g.handle().EnterAfterAll(ctx); err != nil {
		return pipeline.NotBegun(status, len(e.From), err)
	}
	defer g.h.Leave()
	defer g.calm()
	g.h.Meter.Batch(kind, len(e.From))
	return g.do(ctx, request{kind: g.o.rules().Kind(kind), edges: e, status: status, arcs: g.arcs()})
}

// arcs returns the number of arcs of an edge.
func (g *Graph) arcs() uint32 {
	if g.o.Directed {
		return 1
	}
	return 2
}

// request is a batch in Go slices.
type request struct {
	kind   structures.Kind
	edges  Edges
	status []structures.Status // may be nil
	stages []structures.Status // of the first arcs of edges whose second arc is pending
	arcs   uint32
}

// do does a batch. The caller has entered.
func (g *Graph) do(ctx context.Context, q request) error {
	n := len(q.edges.From)
	if q.arcs == 2 && q.status == nil {
		q.status = make([]structures.Status, n) // needed to repair half done edges after an error
	}
	if q.arcs == 2 {
		q.stages = make([]structures.Status, n)
	}
	if q.kind.Inserts() {
		if err := g.relax(ctx); err != nil {
			return pipeline.NotBegun(q.status, n, err)
		}
	}
	g.h.Changes.Made()
	left, err := g.run(ctx, q, g.ordered(q))
	if err != nil && q.arcs == 2 && left != 0 {
		err = g.repair(context.WithoutCancel(ctx), q, err)
	}
	return pipeline.Stopped(q.status, left, err)
}

// ordered reports whether the order of equal edges in a batch can change its results.
func (g *Graph) ordered(q request) bool {
	const few = 1 << 14 // larger batches are not checked
	n := len(q.edges.From)
	if q.kind == structures.Delete || n > few {
		return q.kind != structures.Delete
	}
	keys := make([]uint64, n)
	for i, from := range q.edges.From {
		to := q.edges.To[i]
		if q.arcs == 2 && to < from {
			from, to = to, from
		}
		keys[i] = edgelist.Key(from, to)
	}
	return sequential.Matters(q.kind, n, pipeline.In(keys))
}

// run does a batch on the device. left is the number of operations that were not done.
func (g *Graph) run(ctx context.Context, q request, ordered bool) (left int, err error) {
	columns := []pipeline.Column{
		pipeline.In(q.edges.From), pipeline.In(q.edges.To), pipeline.In(q.edges.Weights), pipeline.Statuses(q.status),
		{}, {},
	}
	if q.stages != nil {
		columns[4] = pipeline.Through(q.stages, q.stages) // also read by the first dispatch of a chunk
	}
	if ordered {
		columns[5] = pipeline.Result[uint64](nil)
	}
	task := pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			b := operands{
				from: c.Columns[0], to: c.Columns[1], weights: c.Columns[2], statuses: c.Columns[3],
				stages: c.Columns[4], keys: c.Columns[5], pending: c.Pending, count: c.Count, retry: c.Retry,
				arcs: q.arcs,
			}
			if ordered {
				return g.recordInOrder(s, q.kind, b)
			}
			return g.recordApply(s, q.kind, b)
		},
		Recover:  g.makeRoom,
		Progress: gate.Told(ctx),
		Parts:    pipeline.PartsOfQueries,
	}
	if ordered {
		task = g.order.Begin(task)
	}
	return g.h.Pipelines.Run(ctx, len(q.edges.From), columns, task)
}

// FindEdges returns the weight of each edge, 0 if it is absent or the graph has no weights, and whether it is there.
// The weights of e are ignored. Errors: vk.ErrClosed, *structures.LengthError, *vk.OutOfMemoryError, the context's.
func (g *Graph) FindEdges(ctx context.Context, e Edges) (weights []uint32, found []bool, err error) {
	weights, found = make([]uint32, len(e.From)), make([]bool, len(e.From))
	if err := g.FindEdgesInto(ctx, e, weights, found); err != nil {
		return nil, nil, err
	}
	return weights, found, nil
}

// FindEdgesInto is FindEdges into the caller's slices. Each is as long as the batch, or nil if it is not needed.
func (g *Graph) FindEdgesInto(ctx context.Context, e Edges, weights []uint32, found []bool) error {
	n := len(e.From)
	err := cmp.Or(g.handle().Err(), edgelist.Edges(e).Check(false), pipeline.Fits(n, "weights", weights),
		pipeline.Fits(n, "found flags", found))
	if err != nil {
		return err
	}
	ctx, end := g.handle().Progress.Begin(ctx)
	defer end()
	if err := g.handle().EnterQuery(ctx); err != nil {
		return err
	}
	defer g.h.LeaveShared()
	return g.find(ctx, e, weights, found)
}

// find is FindEdgesInto for a caller that has entered.
func (g *Graph) find(ctx context.Context, e Edges, weights []uint32, found []bool) error {
	g.h.Meter.Query(len(e.From))
	columns := []pipeline.Column{
		pipeline.In(e.From), pipeline.In(e.To), pipeline.Out(weights), pipeline.Result(found),
	}
	_, err := g.h.Pipelines.Run(ctx, len(e.From), columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return g.recordFind(s, findPush{Graph: g.description(), From: c.Columns[0], To: c.Columns[1],
				Weights: c.Columns[2], Found: c.Columns[3], Count: recording.Length{N: uint32(c.Count)}})
		},
		Progress: gate.Told(ctx),
		Parts:    pipeline.PartsOfQueries,
	})
	return err
}
