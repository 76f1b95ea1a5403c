package graph

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"sync/atomic"

	"github.com/vkds/vkds/internal/gate"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/internal/versioned"
	"github.com/vkds/vkds/structures/mvbtree"
	"github.com/vkds/vkds/vk"
)

// Ordered is a dynamic graph whose arcs stand in order, in one B-link-tree with snapshots, where a Graph has a hash
// table for each vertex. So neighbours come ascending, those with numbers in a range are found without a look at the
// others, rows need no sorting, and a Snapshot is the graph as it was while batches of edges go on. docs/benchmarks.md
// says what that costs.
//
// Methods that a Graph has as well do what they do there. A vertex is there by its number alone: they are 0 to n-1,
// where n-1 is the greatest that an edge has had, or OrderedOptions.Vertices has made. Several goroutines may use one:
// queries run beside one another, and what changes it runs alone, so that calls are linearizable.
//
// Source: the second representation that section 6.2.1 of Awad, Fully Concurrent GPU Data Structures (2022), proposes,
// on the tree of its chapters 3 and 4.
type Ordered struct {
	orderedArcs
	tree   *mvbtree.Tree[uint64, uint64]
	gate   *gate.Gate  // the two arcs of an edge come and go together
	inside func() bool // of a call that holds the tree's gate
}

// OrderedOptions say how an Ordered is made. The zero value is an undirected graph without weights and self loops.
type OrderedOptions struct {
	// Directed, Weighted and SelfLoops are as those of Options.
	Directed, Weighted, SelfLoops bool
	// Vertices is how many there are at first.
	Vertices int
	// Tree has the options of the tree: its Capacity counts arcs, two an edge of an undirected graph, and so does what
	// its Progress is told.
	Tree mvbtree.Options
}

func (o OrderedOptions) options() Options {
	return Options{Directed: o.Directed, Weighted: o.Weighted, SelfLoops: o.SelfLoops, Vertices: o.Vertices}
}

// NewOrdered makes a graph without edges. Errors: *structures.OptionError and those of mvbtree.New.
func NewOrdered(ctx context.Context, d *vk.Device, o OrderedOptions) (*Ordered, error) {
	return newOrdered(d, o, func(o mvbtree.Options) (*mvbtree.Tree[uint64, uint64], error) {
		return mvbtree.New[uint64, uint64](ctx, d, o)
	})
}

// BuildOrdered makes a graph of edges, by the tree's bulk build. Of equal edges the last one's weight stays. Errors:
// those of NewOrdered and of InsertEdges.
func BuildOrdered(ctx context.Context, d *vk.Device, e Edges, o OrderedOptions) (*Ordered, error) {
	if err := cmp.Or(e.check(o.Weighted), noWeights(e, o.options())); err != nil {
		return nil, err
	}
	a := o.options().arcsOf(e)
	if err := a.checkVertices(); err != nil {
		return nil, err
	}
	g, err := newOrdered(d, o, func(o mvbtree.Options) (*mvbtree.Tree[uint64, uint64], error) {
		return mvbtree.Build(ctx, d, a.keys, a.values, o)
	})
	if err != nil {
		return nil, err
	}
	g.extent.Store(max(int64(o.Vertices), a.extent()))
	loops := map[uint32]bool{}
	for i, from := range e.From {
		if from == e.To[i] && o.SelfLoops {
			loops[from] = true
		}
	}
	g.loops.Store(int64(len(loops)))
	return g, nil
}

func newOrdered(d *vk.Device, o OrderedOptions, open func(mvbtree.Options) (*mvbtree.Tree[uint64, uint64], error)) (
	*Ordered, error) {
	g := &Ordered{orderedArcs: orderedArcs{d: d, o: o.options()}, gate: gate.New()}
	if err := g.o.checkVertices(); err != nil {
		return nil, err
	}
	o.Tree.Progress = g.gate.Progress(o.Tree.Progress)
	tree, err := open(o.Tree)
	if err != nil {
		return nil, err
	}
	g.tree, g.arcs, g.length = tree, tree, tree.Len
	g.extent.Store(int64(o.Vertices))
	g.inside = versioned.Of(tree.Tree).Inside
	g.enter = func(ctx context.Context) error { return g.enterBy(ctx, g.gate.EnterShared) }
	g.leave, g.outside = g.gate.LeaveShared, g.gate
	g.alone = func(_ context.Context, f func() error) error { return f() } // its gate is held
	return g, nil
}

// enterBy begins a call, unless it comes from inside of one on the tree or its pool, which may wait for who is in.
func (g *Ordered) enterBy(ctx context.Context, enter func(context.Context) error) error {
	if g.inside() {
		return &structures.ReentryError{}
	}
	return enter(ctx)
}

// Tree is the tree of the arcs: the key of an arc has the vertex that it comes from in its upper half and the one that
// it leads to in the lower one, and the value has the weight in its upper half, so that sums of weights are modulo 2^32
// and compare as they are. It is for queries on streams and kernels of one's own: who changes an undirected graph by it
// has both arcs of an edge to change.
func (g *Ordered) Tree() *mvbtree.Tree[uint64, uint64] { return g.tree }

// Metrics are those of the tree.
func (g *Ordered) Metrics() structures.Metrics { return g.tree.Metrics() }

// Prepare is that of the tree, and makes the kernel of CSR besides.
func (g *Ordered) Prepare(ctx context.Context) error {
	if err := g.tree.Prepare(ctx); err != nil {
		return err
	}
	rows := func(_ context.Context, s *vk.Stream) error {
		_, err := recording.Kernel[csrRowsPush](recording.NewKernels(g.d), s, "graph/csr_rows", csrWorkgroup)
		return err
	}
	return recording.Prepare(ctx, g.d, nil, []recording.Part{rows})
}

// Close waits for the calls that are under way and frees the memory, that of its snapshots too. Further calls do
// nothing.
func (g *Ordered) Close() error {
	if g.inside() {
		return &structures.ReentryError{}
	}
	leave, open, err := g.gate.Shut()
	if err != nil {
		return err
	}
	defer leave()
	if !open {
		return nil
	}
	if err := g.tree.Close(); err != nil {
		return err
	}
	g.gate.End()
	return nil
}

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
	if !g.o.does(kind) {
		return &structures.KindError{Kind: kind}
	}
	if !kind.Inserts() {
		e.Weights = nil
	}
	if err := cmp.Or(e.check(kind.Inserts() && g.o.Weighted), pipeline.Fits(len(e.From), "statuses", status),
		noWeights(e, g.o)); err != nil {
		return err
	}
	if status == nil {
		status = make([]structures.Status, e.Len())
	}
	if err := g.enterBy(ctx, g.gate.Enter); err != nil {
		return pipeline.NotBegun(status, e.Len(), err)
	}
	defer g.gate.Leave()
	return g.do(ctx, kind, e, status)
}

// do does a batch, by who has entered.
func (g *Ordered) do(ctx context.Context, kind structures.Kind, e Edges, status []structures.Status) error {
	b := orderedBatch{arcsOfEdges: g.o.arcsOf(e)}
	b.status = make([]structures.Status, len(b.keys))
	if !kind.Inserts() {
		b.values = nil
	} else if err := b.checkVertices(); err != nil {
		return pipeline.NotBegun(status, e.Len(), err)
	}
	kind = g.o.kind(kind)
	err := g.tree.UpdateInto(ctx, kind, b.keys, b.values, b.status)
	if err != nil && !g.o.Directed {
		err = b.repair(context.WithoutCancel(ctx), g.tree, pipeline.Cause(err))
	}
	next := 0
	for i, from := range e.From {
		n := g.o.arcsOfEdge(from, e.To[i])
		status[i] = structures.Absent
		if n != 0 {
			status[i] = b.status[next]
		}
		if status[i] == structures.Inserted {
			g.extent.Store(max(g.extent.Load(), int64(max(from, e.To[i]))+1))
		}
		if from == e.To[i] {
			g.loops.Add(change(status[i]))
		}
		next += n
	}
	return pipeline.Stopped(status, 0, err)
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
	if err := g.enterBy(ctx, g.gate.Enter); err != nil {
		return 0, err
	}
	defer g.gate.Leave()
	e, err := g.edgesOf(ctx, vertices)
	if err != nil {
		return 0, err
	}
	status := make([]structures.Status, e.Len())
	err = g.do(ctx, structures.Delete, e, status)
	for _, s := range status {
		edges -= int(change(s))
	}
	return edges, err
}

// Check goes over the tree, as it checks itself, and looks up the opposite of each arc of an undirected graph. Errors:
// those of the tree's Check; *CheckError; *vk.OutOfMemoryError, vk.ErrClosed, the context's.
func (g *Ordered) Check(ctx context.Context) error {
	if err := g.enterBy(ctx, g.gate.Enter); err != nil {
		return err
	}
	defer g.gate.Leave()
	if err := g.tree.Check(ctx); err != nil {
		return err
	}
	found := Faults{Loops: -int(g.loops.Load())}
	for arcs, err := range g.arcs.Chunks(ctx) {
		if err != nil {
			return err
		}
		if err := g.checkArcs(ctx, arcs, &found); err != nil {
			return err
		}
	}
	if found != (Faults{}) {
		return &CheckError{found}
	}
	return nil
}

func (g *Ordered) checkArcs(ctx context.Context, arcs structures.Pairs[uint64, uint64], found *Faults) error {
	back := make([]uint64, len(arcs.Keys))
	for i, key := range arcs.Keys {
		from, to := endsOf(key)
		if back[i] = opposite(key); from == to {
			found.Loops++
		}
		if int64(max(from, to)) >= g.extent.Load() {
			found.Misplaced++
		}
	}
	if g.o.Directed {
		return nil
	}
	values, there, err := g.tree.Find(ctx, back)
	for i, v := range arcs.Values {
		if err == nil && (!there[i] || values[i] != v) {
			found.OneSided++
		}
	}
	return err
}

// OrderedSnapshot is an Ordered as it was at a time, while that is changed: what it holds doesn't change as long as it
// is open. Several goroutines may use one.
type OrderedSnapshot struct {
	orderedArcs
	at     *mvbtree.Snapshot[uint64, uint64]
	closed atomic.Bool
}

// Snapshot opens one, behind the calls that came before; it doesn't wait for the device. One that is not closed keeps
// memory (mvbtree.Tree.Snapshot, whose errors these are).
func (g *Ordered) Snapshot(ctx context.Context) (*OrderedSnapshot, error) {
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.leave()
	at, err := g.tree.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	s := &OrderedSnapshot{orderedArcs: orderedArcs{arcs: at, length: at.Len, d: g.d, o: g.o}, at: at}
	s.extent.Store(g.extent.Load())
	s.loops.Store(g.loops.Load())
	s.alone = func(ctx context.Context, f func() error) error { return g.ask(ctx, f) }
	s.enter = func(ctx context.Context) error {
		if s.closed.Load() {
			return vk.ErrClosed
		}
		return g.ask(ctx, func() error { return nil }) // it is open, and there is time
	}
	s.leave, s.outside = func() {}, nobody{}
	return s, nil
}

// At is the snapshot of the tree's arcs, for queries on streams and kernels of one's own (Ordered.Tree).
func (s *OrderedSnapshot) At() *mvbtree.Snapshot[uint64, uint64] { return s.at }

// Close ends the snapshot. Further calls do nothing.
func (s *OrderedSnapshot) Close() error {
	s.closed.Store(true)
	return s.at.Close()
}

// EdgeChange is an edge that one snapshot has otherwise than a later one; the lesser end of an undirected graph's is
// From. Its weight is the later one's, or the one that it had where it is gone.
type EdgeChange struct {
	Edge
	Kind structures.Kind // what has happened to it: InsertUnique, Insert (its weight is another one) or Delete
}

// DiffEdges returns the edges that two snapshots of one graph have otherwise, ascending, in time that goes by what has
// changed. Snapshots may come in either order. An error comes last, with no change: those of mvbtree.Diff.
func DiffEdges(ctx context.Context, older, newer *OrderedSnapshot) iter.Seq2[EdgeChange, error] {
	return func(yield func(EdgeChange, error) bool) {
		for c, err := range mvbtree.Diff(ctx, older.at, newer.at) {
			if err != nil {
				yield(EdgeChange{}, err)
				return
			}
			from, to := endsOf(c.Key)
			if to < from && !older.o.Directed {
				continue
			}
			change := EdgeChange{Edge{from, to, weightOf(c.New)}, structures.Insert}
			switch {
			case !c.Had:
				change.Kind = structures.InsertUnique
			case !c.Has:
				change.Kind, change.Weight = structures.Delete, weightOf(c.Old)
			}
			if !yield(change, nil) {
				return
			}
		}
	}
}

// arcsOfEdges are edges as a tree has them: of an undirected graph the arc from the lesser end first, a loop being one.
type arcsOfEdges struct {
	keys   []uint64
	values []uint64 // zeros where there are no weights
}

// extent is one more than the greatest vertex.
func (a arcsOfEdges) extent() (n int64) {
	for _, key := range a.keys {
		from, to := endsOf(key)
		n = max(n, int64(from)+1, int64(to)+1)
	}
	return n
}

// checkVertices refuses vertices that no graph has.
func (a arcsOfEdges) checkVertices() error {
	if n := a.extent(); n > MaxVertices {
		return &structures.LimitError{What: "vertices of a graph", Want: uint64(n), Most: MaxVertices}
	}
	return nil
}

func valueOf(weight uint32) uint64 { return uint64(weight) << 32 }

func weightOf(value uint64) uint32 { return uint32(value >> 32) }

func weightsOf(values []uint64) []uint32 {
	weights := make([]uint32, len(values))
	for i, v := range values {
		weights[i] = weightOf(v)
	}
	return weights
}

func keyOf(from, to uint32) uint64 { return uint64(from)<<32 | uint64(to) }

func endsOf(key uint64) (from, to uint32) { return uint32(key >> 32), uint32(key) }

// arcsOfEdge is how many arcs an edge is.
func (o *Options) arcsOfEdge(from, to uint32) int {
	switch {
	case from == to && !o.SelfLoops:
		return 0
	case from == to || o.Directed:
		return 1
	}
	return 2
}

func (o Options) arcsOf(e Edges) (a arcsOfEdges) {
	a.keys = make([]uint64, 0, 2*e.Len())
	for i, from := range e.From {
		to := e.To[i]
		n := o.arcsOfEdge(from, to)
		if n == 2 {
			from, to = min(from, to), max(from, to)
		}
		for range n {
			a.keys = append(a.keys, keyOf(from, to))
			if e.Weights != nil {
				a.values = append(a.values, valueOf(e.Weights[i]))
			}
			from, to = to, from
		}
	}
	if e.Weights == nil {
		a.values = make([]uint64, len(a.keys))
	}
	return a
}

// orderedBatch is a batch on the tree.
type orderedBatch struct {
	arcsOfEdges
	status []structures.Status
}

// opposite is the other arc of an edge.
func opposite(key uint64) uint64 { return key<<32 | key>>32 }

// edgeKey is the arc of an edge that comes from the lesser end.
func edgeKey(key uint64) uint64 { return min(key, opposite(key)) }

// repair makes whole the edges of which err has left an operation done on one arc and pending on the other. One of the
// arcs counts: the other one gets to be as it is, and what is pending on it is pending on both. That takes no room
// where the batch has changed the other one, as it has one of the two: so if it can't be done, the other arc counts.
// Returns err, and what stopped itself.
func (b *orderedBatch) repair(ctx context.Context, tree *mvbtree.Tree[uint64, uint64], err error) error {
	done, pending := map[uint64]bool{}, map[uint64]bool{}
	for i, key := range b.keys {
		if b.status[i] == structures.Pending {
			pending[edgeKey(key)] = true
		} else {
			done[edgeKey(key)] = true
		}
	}
	var edges []uint64
	for edge := range pending {
		if done[edge] && edge != opposite(edge) {
			edges = append(edges, edge)
		}
	}
	left, failure := b.settle(ctx, tree, edges, false)
	if failure == nil {
		left, failure = b.settle(ctx, tree, left, true)
	}
	if failure == nil && len(left) != 0 {
		failure = &structures.PendingError{Operations: len(left), Err: err}
	}
	if failure != nil {
		return errors.Join(err, failure)
	}
	return err
}

// settle has the arc of each edge that comes from the lesser end count, or the other one, and returns the edges of
// which there was no room for that.
func (b *orderedBatch) settle(ctx context.Context, tree *mvbtree.Tree[uint64, uint64], edges []uint64,
	other bool) (left []uint64, err error) {
	if len(edges) == 0 {
		return nil, nil
	}
	counts := func(edge uint64) uint64 {
		if other {
			return opposite(edge)
		}
		return edge
	}
	var both []uint64
	for _, edge := range edges {
		both = append(both, counts(edge), opposite(counts(edge)))
	}
	now, found, err := tree.Find(ctx, both)
	if err != nil {
		return nil, err
	}
	var gone []uint64
	var put arcsOfEdges
	for i := 0; i < len(both); i += 2 {
		switch is, was := found[i], found[i+1]; {
		case is && (!was || now[i] != now[i+1]):
			put.keys, put.values = append(put.keys, both[i+1]), append(put.values, now[i])
		case !is && was:
			gone = append(gone, both[i+1])
		}
	}
	short := map[uint64]bool{}
	for kind, some := range map[structures.Kind]arcsOfEdges{structures.Insert: put, structures.Delete: {keys: gone}} {
		status := make([]structures.Status, len(some.keys))
		if err := tree.UpdateInto(ctx, kind, some.keys, some.values, status); err != nil && !pipeline.Short(err) {
			return nil, err
		}
		for i, s := range status {
			if s == structures.Pending {
				short[edgeKey(some.keys[i])] = true
			}
		}
	}
	settled := map[uint64]bool{}
	for _, edge := range edges {
		if settled[edge] = !short[edge]; short[edge] {
			left = append(left, edge)
		}
	}
	for i := 0; i+1 < len(b.keys); i++ {
		if edge := b.keys[i]; settled[edgeKey(edge)] && b.keys[i+1] == opposite(edge) { // both arcs of an operation
			of := i
			if b.keys[i] != counts(edgeKey(edge)) {
				of++
			}
			b.status[i], b.status[i+1] = b.status[of], b.status[of]
			i++
		}
	}
	return left, nil
}
