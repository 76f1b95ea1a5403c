// Package ordered is a dynamic graph in GPU memory whose arcs are in order, in one B-link-tree with snapshots. (Package
// graph has a hash table for each vertex.) The neighbors of a vertex ascend, the neighbors in a range of numbers are
// found without reading the others, and a snapshot is the graph at one time while batches of edges change it. If you
// need neither order nor snapshots, package graph is faster.
//
// Source: the second representation that section 6.2.1 of Awad, Fully Concurrent GPU Data Structures (2022), proposes,
// on the tree of its chapters 3 and 4.
package ordered

import (
	"context"
	"sync/atomic"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/internal/edgelist"
	"github.com/vkds/vkds/structures/graph/internal/rows"
	"github.com/vkds/vkds/vk"
)

// Graph is a dynamic graph whose arcs are in order.
//
// Graph has the methods that change it. The queries are methods of View: Now and Snapshot return views. The vertices
// are 0 to n-1, where n-1 is the greatest vertex that an edge has had, or n is Options.Vertices. A Graph is safe for
// many goroutines: queries run concurrently, updates run alone, and all calls are linearizable.
type Graph struct {
	now  View
	tree *btree.Tree[uint64, uint64]
	gate *gate.Gate // keeps the two arcs of an edge together
	// repairing is set while arcs are made equal. Progress is not called then, because it may be what has panicked.
	repairing atomic.Bool
}

// Options are the options of a Graph. The zero value makes an undirected graph without weights and self loops.
type Options struct {
	// Directed, Weighted and SelfLoops are those of graph.Options.
	Directed, Weighted, SelfLoops bool
	// Vertices is the number of vertices at first.
	Vertices int
	// Tree has the options of the tree. Its Capacity and its Progress count arcs: two for an edge of an undirected
	// graph.
	Tree btree.Options
}

// New makes a graph without edges. Errors: *vk.OptionError and those of btree.New.
func New(ctx context.Context, d *vk.Device, o Options) (*Graph, error) {
	return open(d, o, func(o btree.Options) (*btree.Tree[uint64, uint64], error) {
		return btree.New[uint64, uint64](ctx, d, o)
	})
}

// Build makes a graph of edges, by the tree's bulk build. If edges are equal, the last weight stays. Errors: those of
// New and of InsertEdges.
func Build(ctx context.Context, d *vk.Device, e graph.Edges, o Options) (*Graph, error) {
	rules := o.rules()
	if err := rules.Check(edgelist.Edges(e)); err != nil {
		return nil, err
	}
	a := arcsOf(rules, e)
	if err := checkExtent(a.extent); err != nil {
		return nil, err
	}
	g, err := open(d, o, func(o btree.Options) (*btree.Tree[uint64, uint64], error) {
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

func (o *Options) rules() edgelist.Rules {
	return edgelist.Rules{Directed: o.Directed, Weighted: o.Weighted, SelfLoops: o.SelfLoops}
}

func open(d *vk.Device, o Options, tree func(btree.Options) (*btree.Tree[uint64, uint64], error)) (*Graph, error) {
	if err := edgelist.CheckVertices(o.Vertices); err != nil {
		return nil, err
	}
	g := &Graph{now: View{d: d, rules: o.rules()}, gate: gate.New("graph")}
	if told := o.Tree.Progress; told != nil {
		o.Tree.Progress = func(done, total int) {
			if !g.repairing.Load() {
				told(done, total)
			}
		}
	}
	t, err := tree(o.Tree)
	if err != nil {
		return nil, err
	}
	now := &g.now
	g.tree, now.arcs, now.length = t, t, t.Len
	now.on = func(s *vk.Stream) structures.QueriesOnStream { return t.On(s) }
	now.extent.Store(int64(o.Vertices))
	now.progress = gate.NewProgress(o.Tree.Progress)
	now.enter, now.leave = g.gate.EnterShared, g.gate.LeaveShared
	now.alone = func(_ context.Context, f func() error) error { return f() } // its gate is held
	return g, nil
}

// made reports whether a constructor has made the graph.
func (g *Graph) made() bool { return g != nil && g.gate != nil }

// Now returns a view of the graph as it is at each call on the view.
func (g *Graph) Now() *View {
	if g == nil {
		return nil
	}
	return &g.now
}

// Tree returns the tree of the arcs, for queries on streams and in your own kernels. The upper half of a key is the
// arc's source and the lower half is its target. The upper half of a value is the weight, so that sums wrap at 2^32 and
// comparisons are those of weights. If you change an undirected graph through the tree, change both arcs of an edge.
func (g *Graph) Tree() *btree.Tree[uint64, uint64] {
	if !g.made() {
		return nil
	}
	return g.tree
}

// Prepare makes the kernels of the tree (btree.Tree.Prepare), and those of CSR.
func (g *Graph) Prepare(ctx context.Context) error {
	if !g.made() {
		return vk.ErrNotOpen
	}
	if err := g.tree.Prepare(ctx); err != nil {
		return err
	}
	return rows.RowsKernels().Prepare(ctx, g.now.d, nil)
}

// Close waits for running calls and frees the memory of the graph and its snapshots. Further calls of Close do nothing.
func (g *Graph) Close() error {
	if !g.made() {
		return vk.ErrNotOpen
	}
	return g.gate.Close(func() error {
		err := g.tree.Close()
		if err == nil {
			g.gate.End()
		}
		return err
	})
}

// Check checks the tree, and looks up the opposite of each arc of an undirected graph. Errors: those of
// btree.Inspection.Check; *graph.CheckError; *vk.OutOfMemoryError, vk.ErrClosed, the context's.
func (g *Graph) Check(ctx context.Context) error {
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
	found := graph.Faults{Loops: -int(g.now.loops.Load())}
	for some, err := range g.now.arcs.Chunks(ctx) {
		if err != nil {
			return err
		}
		if err := g.checkArcs(ctx, some, &found); err != nil {
			return err
		}
	}
	if found != (graph.Faults{}) {
		return &graph.CheckError{Faults: found}
	}
	return nil
}

func (g *Graph) checkArcs(ctx context.Context, some structures.Pairs[uint64, uint64], found *graph.Faults) error {
	back := make([]uint64, len(some.Keys))
	for i, key := range some.Keys {
		from, to := edgelist.Ends(key)
		if back[i] = opposite(key); from == to {
			found.Loops++
		}
		if int64(max(from, to)) >= g.now.extent.Load() {
			found.Misplaced++
		}
	}
	if g.now.rules.Directed {
		return nil
	}
	values, there, err := g.tree.Find(ctx, back)
	for i, v := range some.Values {
		if err == nil && (!there[i] || values[i] != v) {
			found.OneSided++
		}
	}
	return err
}
