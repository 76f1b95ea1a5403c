package graph

import (
	"cmp"
	"context"
	"sync/atomic"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph/internal/rows"
	"github.com/vkds/vkds/vk"
)

// Ordered is a dynamic graph whose arcs stand in order, in one B-link-tree with snapshots, where a Graph has a hash
// table for each vertex. So neighbours come ascending, those with numbers in a range are found without a look at the
// others, rows need no sorting, and a Snapshot is the graph as it was while batches of edges go on. docs/benchmarks.md
// says what that costs.
//
// Ordered has the methods that change the graph; Now has the queries, and so has a Snapshot. A vertex is there by its
// number alone: they are 0 to n-1, where n-1 is the greatest that an edge has had, or OrderedOptions.Vertices has made.
// Several goroutines may use one: queries run beside one another, and what changes it runs alone, so that calls are
// linearizable.
//
// Source: the second representation that section 6.2.1 of Awad, Fully Concurrent GPU Data Structures (2022), proposes,
// on the tree of its chapters 3 and 4.
type Ordered struct {
	now  View
	tree *btree.Tree[uint64, uint64]
	gate *gate.Gate // the two arcs of an edge come and go together
	// The arcs of edges are being made to agree, of which the user's Progress, which may have panicked, is not told.
	repairing atomic.Bool
}

// OrderedOptions say how an Ordered is made. The zero value is an undirected graph without weights and self loops.
type OrderedOptions struct {
	// Directed, Weighted and SelfLoops are as those of Options.
	Directed, Weighted, SelfLoops bool
	// Vertices is how many there are at first.
	Vertices int
	// Tree has the options of the tree: its Capacity counts arcs, two an edge of an undirected graph, and so does what
	// its Progress is told.
	Tree btree.Options
}

func (o OrderedOptions) options() Options {
	return Options{Directed: o.Directed, Weighted: o.Weighted, SelfLoops: o.SelfLoops, Vertices: o.Vertices}
}

// NewOrdered makes a graph without edges. Errors: *vk.OptionError and those of btree.New.
func NewOrdered(ctx context.Context, d *vk.Device, o OrderedOptions) (*Ordered, error) {
	return newOrdered(d, o, func(o btree.Options) (*btree.Tree[uint64, uint64], error) {
		return btree.New[uint64, uint64](ctx, d, o)
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
	g, err := newOrdered(d, o, func(o btree.Options) (*btree.Tree[uint64, uint64], error) {
		return btree.Build(ctx, d, a.keys, a.values, o)
	})
	if err != nil {
		return nil, err
	}
	g.now.extent.Store(max(int64(o.Vertices), a.extent))
	loops := map[uint32]bool{}
	for i, from := range e.From {
		if from == e.To[i] && o.SelfLoops {
			loops[from] = true
		}
	}
	g.now.loops.Store(int64(len(loops)))
	return g, nil
}

func newOrdered(d *vk.Device, o OrderedOptions, open func(btree.Options) (*btree.Tree[uint64, uint64], error)) (
	*Ordered, error) {
	g := &Ordered{now: View{d: d, o: o.options()}, gate: gate.New()}
	now := &g.now
	if err := now.o.checkVertices(); err != nil {
		return nil, err
	}
	if told := o.Tree.Progress; told != nil {
		o.Tree.Progress = func(done, total int) {
			if !g.repairing.Load() {
				told(done, total)
			}
		}
	}
	tree, err := open(o.Tree)
	if err != nil {
		return nil, err
	}
	g.tree, now.arcs, now.length = tree, tree, tree.Len
	now.on = func(s *vk.Stream) structures.QueriesOnStream { return tree.On(s) }
	now.extent.Store(int64(o.Vertices))
	now.progress = gate.NewProgress(o.Tree.Progress)
	now.enter, now.leave = g.gate.EnterShared, g.gate.LeaveShared
	now.alone = func(_ context.Context, f func() error) error { return f() } // its gate is held
	return g, nil
}

// made says whether a constructor has made the graph.
func (g *Ordered) made() bool { return g != nil && g.gate != nil }

// Now is the graph as it is whenever a method of the view is called.
func (g *Ordered) Now() *View {
	if g == nil {
		return nil
	}
	return &g.now
}

// Tree is the tree of the arcs: the key of an arc has the vertex that it comes from in its upper half and the one that
// it leads to in the lower one, and the value has the weight in its upper half, so that sums of weights are modulo 2^32
// and compare as they are. It is for queries on streams and kernels of one's own: who changes an undirected graph by it
// has both arcs of an edge to change.
func (g *Ordered) Tree() *btree.Tree[uint64, uint64] {
	if !g.made() {
		return nil
	}
	return g.tree
}

// Prepare is that of the tree, and makes the kernel of CSR besides.
func (g *Ordered) Prepare(ctx context.Context) error {
	if !g.made() {
		return vk.ErrNotOpen
	}
	if err := g.tree.Prepare(ctx); err != nil {
		return err
	}
	return rows.RowsKernels().Prepare(ctx, g.now.d, nil)
}

// Close waits for the calls that are under way and frees the memory, that of its snapshots too. Further calls do
// nothing.
func (g *Ordered) Close() error {
	if !g.made() {
		return vk.ErrNotOpen
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

// Check goes over the tree, as it checks itself, and looks up the opposite of each arc of an undirected graph. Errors:
// those of the tree's Check; *CheckError; *vk.OutOfMemoryError, vk.ErrClosed, the context's.
func (g *Ordered) Check(ctx context.Context) error {
	if !g.made() {
		return vk.ErrNotOpen
	}
	ctx, end := g.now.progress.Begin(ctx)
	defer end()
	if err := g.gate.Enter(ctx); err != nil {
		return err
	}
	defer g.gate.Leave()
	if err := g.tree.Inspect().Check(ctx); err != nil {
		return err
	}
	found := Faults{Loops: -int(g.now.loops.Load())}
	for arcs, err := range g.now.arcs.Chunks(ctx) {
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
		if int64(max(from, to)) >= g.now.extent.Load() {
			found.Misplaced++
		}
	}
	if g.now.o.Directed {
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
