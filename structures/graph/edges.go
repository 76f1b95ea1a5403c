package graph

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/sequential"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Edges are edges in Go slices: edge i goes from From[i] to To[i], in an undirected graph between them, and its weight
// is Weights[i]. Weights are nil where a graph has none, or a call has no use for them.
type Edges struct {
	From, To []uint32
	Weights  []uint32
}

// Edge is one of them.
type Edge struct{ From, To, Weight uint32 }

// check answers why edges can't be what a batch is about; weights: it needs them.
func (e Edges) check(weights bool) error {
	n := len(e.From)
	if len(e.To) != n {
		return &structures.LengthError{Keys: n, Other: "targets", Got: len(e.To)}
	}
	if weights && len(e.Weights) != n {
		return &structures.LengthError{Keys: n, Other: "weights", Got: len(e.Weights)}
	}
	return nil
}

// InsertEdges inserts each edge, or assigns its weight to the one that is there: Inserted or Assigned, in a graph
// without weights Inserted or Found, and Absent of a self loop where the graph has none. Of equal edges in the batch,
// in an undirected graph opposite ones among them, the last one's weight stays, and their statuses are those of one
// after the other. The ends of edges become vertices.
//
// Errors of this and the other updates: vk.ErrClosed, *structures.LengthError and *structures.KindError before anything
// is done; *structures.PendingError, with the statuses that say what is done, around *vk.OutOfMemoryError,
// *vk.LimitError, before anything is done where a vertex is MaxVertices or more, vk.ErrUnsubmitted where a
// stream has recorded work on the graph and not submitted it, or the context's. An edge of an undirected graph is then
// in both adjacencies or in neither.
func (g *Graph) InsertEdges(ctx context.Context, e Edges) ([]structures.Status, error) {
	return updated(ctx, g, structures.Insert, e)
}

// DeleteEdges removes each edge: Deleted or Absent. Their ends stay vertices. Of equal edges in the batch any may be
// the one Deleted. Weights are not looked at.
func (g *Graph) DeleteEdges(ctx context.Context, e Edges) ([]structures.Status, error) {
	return updated(ctx, g, structures.Delete, e)
}

// updated is UpdateEdgesInto with statuses of its own.
func updated(ctx context.Context, g interface {
	UpdateEdgesInto(context.Context, structures.Kind, Edges, []structures.Status) error
}, kind structures.Kind, e Edges) ([]structures.Status, error) {
	status := make([]structures.Status, len(e.From))
	return pipeline.Made(status, g.UpdateEdgesInto(ctx, kind, e, status))
}

// UpdateEdgesInto does a batch of one kind: Insert, InsertUnique (an edge that is there keeps its weight: Found),
// InsertAdd, InsertMin, InsertMax or Delete. InsertAdd inserts each edge, or adds its weight to that of the edge that
// is there, modulo 2^32, and of equal edges in the batch all count (structures.Updates.InsertAdd). InsertMin and
// InsertMax keep the lesser or the greater of the two weights. The caller's slice gets the status of each edge, unless
// it is nil. Errors: those of InsertEdges.
func (g *Graph) UpdateEdgesInto(ctx context.Context, kind structures.Kind, e Edges, status []structures.Status) error {
	if err := g.turns().Err(); err != nil {
		return err
	}
	if err := g.o.admits(kind, &e, status); err != nil {
		return err
	}
	if kind.Inserts() {
		if err := checkExtent(extentOf(e.From, e.To)); err != nil {
			return pipeline.NotBegun(status, len(e.From), err)
		}
	}
	ctx, end := g.told().Begin(ctx)
	defer end()
	if err := g.enter(ctx); err != nil {
		return pipeline.NotBegun(status, len(e.From), err)
	}
	defer g.gate.Leave()
	defer g.calm()
	g.meter.Batch(kind, len(e.From))
	return g.do(ctx, request{kind: g.o.kind(kind), edges: e, status: status, arcs: g.arcs()})
}

// admits answers why a batch of updates of one kind can't be done, and takes from it the weights that have no use.
func (o *Options) admits(kind structures.Kind, e *Edges, status []structures.Status) error {
	if !o.does(kind) {
		return &structures.KindError{Kind: kind}
	}
	if !kind.Inserts() {
		e.Weights = nil
	}
	return cmp.Or(e.check(kind.Inserts() && o.Weighted), pipeline.Fits(len(e.From), "statuses", status),
		noWeights(*e, *o))
}

// kind is how kernels do an update: without weights there is nothing to be assigned.
func (o *Options) kind(kind structures.Kind) structures.Kind {
	if kind == structures.Insert && !o.Weighted {
		return structures.InsertUnique
	}
	return kind
}

// does says whether a graph does updates of a kind.
func (o *Options) does(kind structures.Kind) bool {
	switch kind {
	case structures.Insert, structures.InsertUnique, structures.Delete:
		return true
	}
	return o.Weighted && kind.UpdatesInPlace()
}

// arcs is how many an edge is.
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
	status []structures.Status // nil: not wanted
	stages []structures.Status // of edges that are two arcs: what became of the first where the second is pending
	arcs   uint32
}

// do does a batch, by who has entered.
func (g *Graph) do(ctx context.Context, q request) error {
	n := len(q.edges.From)
	if q.arcs == 2 && q.status == nil {
		q.status = make([]structures.Status, n) // to know what is half done, should anything fail
	}
	if q.arcs == 2 {
		q.stages = make([]structures.Status, n)
	}
	if q.kind.Inserts() {
		if err := g.relax(ctx); err != nil {
			return pipeline.NotBegun(q.status, n, err)
		}
	}
	g.changes.Made()
	left, err := g.run(ctx, q, g.ordered(q))
	if err != nil && q.arcs == 2 && left != 0 {
		err = g.repair(context.WithoutCancel(ctx), q, err)
	}
	return pipeline.Stopped(q.status, left, err)
}

// ordered says whether the order of equal edges in a batch shows.
func (g *Graph) ordered(q request) bool {
	const few = 1 << 14 // more are ordered on the device without a look
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
		keys[i] = keyOf(from, to)
	}
	return sequential.Matters(q.kind, n, pipeline.In(keys))
}

// run has the device do a batch. left: so many operations of it were not done.
func (g *Graph) run(ctx context.Context, q request, ordered bool) (left int, err error) {
	columns := []pipeline.Column{
		pipeline.In(q.edges.From), pipeline.In(q.edges.To), pipeline.In(q.edges.Weights), pipeline.Statuses(q.status),
		{}, {},
	}
	if q.stages != nil {
		columns[4] = pipeline.Through(q.stages, q.stages) // a chunk may be begun by the dispatch that reads them
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
	return g.pipelines.Run(ctx, len(q.edges.From), columns, task)
}

// FindEdges looks each edge up: its weight, 0 if it is absent or the graph has none, and whether it is there. Weights
// of e are not looked at. Errors: vk.ErrClosed, *structures.LengthError, *vk.OutOfMemoryError, the context's.
func (g *Graph) FindEdges(ctx context.Context, e Edges) (weights []uint32, found []bool, err error) {
	weights, found = make([]uint32, len(e.From)), make([]bool, len(e.From))
	if err := g.FindEdgesInto(ctx, e, weights, found); err != nil {
		return nil, nil, err
	}
	return weights, found, nil
}

// FindEdgesInto is FindEdges into the caller's slices, each as long as the batch or nil: then it is not wanted.
func (g *Graph) FindEdgesInto(ctx context.Context, e Edges, weights []uint32, found []bool) error {
	n := len(e.From)
	err := cmp.Or(g.turns().Err(), e.check(false), pipeline.Fits(n, "weights", weights),
		pipeline.Fits(n, "found flags", found))
	if err != nil {
		return err
	}
	ctx, end := g.told().Begin(ctx)
	defer end()
	if err := g.enterShared(ctx); err != nil {
		return err
	}
	defer g.gate.LeaveShared()
	return g.find(ctx, e, weights, found)
}

// find is FindEdgesInto by who has entered.
func (g *Graph) find(ctx context.Context, e Edges, weights []uint32, found []bool) error {
	g.meter.Query(len(e.From))
	columns := []pipeline.Column{
		pipeline.In(e.From), pipeline.In(e.To), pipeline.Out(weights), pipeline.Result(found),
	}
	_, err := g.pipelines.Run(ctx, len(e.From), columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return g.recordFind(s, findPush{Graph: g.description(), From: c.Columns[0], To: c.Columns[1],
				Weights: c.Columns[2], Found: c.Columns[3], Count: recording.Length{N: uint32(c.Count)}})
		},
		Progress: gate.Told(ctx),
		Parts:    pipeline.PartsOfQueries,
	})
	return err
}
