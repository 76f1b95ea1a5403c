package ordered

import (
	"cmp"
	"context"
	"iter"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/internal/edgelist"
	"github.com/vkds/vkds/vk"
)

// Snapshot opens a view of the graph as it is after all calls before. It does not wait for the device. A view keeps
// memory until it is closed. Errors: those of btree.Tree.Snapshot.
func (g *Graph) Snapshot(ctx context.Context) (*View, error) {
	if !g.made() {
		return nil, vk.ErrNotOpen
	}
	now := &g.now
	if err := now.enter(ctx); err != nil {
		return nil, err
	}
	defer now.leave()
	at, err := g.tree.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	v := &View{arcs: at, on: at.On, length: at.Len, d: now.d, rules: now.rules, at: at}
	v.extent.Store(now.extent.Load())
	v.loops.Store(now.loops.Load())
	v.alone = func(ctx context.Context, f func() error) error {
		return now.ask(ctx, func(context.Context) error { return f() })
	}
	v.enter = func(ctx context.Context) error {
		if v.closed.Load() {
			return &vk.ClosedError{What: "snapshot"}
		}
		return now.ask(ctx, func(context.Context) error { return nil }) // returns an error if the graph is closed
	}
	v.leave = func() {}
	return v, nil
}

// At returns the tree's snapshot of the arcs, for queries on streams and in your own kernels (Graph.Tree). It returns
// nil for Graph.Now.
func (v *View) At() *btree.Snapshot[uint64, uint64] {
	if v == nil {
		return nil
	}
	return v.at
}

// Close ends a snapshot. Further calls do nothing, and so does Close of Graph.Now.
func (v *View) Close() error {
	if !v.made() {
		return vk.ErrNotOpen
	}
	if v.at == nil {
		return nil
	}
	v.closed.Store(true)
	return v.at.Close()
}

// snapshot returns an error if the view, an argument with that name, is not a snapshot.
func (v *View) snapshot(name string) error {
	if v.made() && v.at == nil {
		return &vk.OptionError{Option: name, Reason: "it is the Now of a graph, which changes: open a Snapshot"}
	}
	return nil
}

// Change describes an edge that differs between two snapshots. In an undirected graph From is the lesser end. The
// weight is that of the newer snapshot, or, if the edge was deleted, that of the older one.
type Change struct {
	graph.Edge
	// Kind is InsertUnique if the edge is new, Insert if its weight differs, and Delete if it was deleted.
	Kind structures.Kind
}

// Diff returns the edges that differ between two snapshots of one graph, in ascending order. Its time is proportional
// to the changes. The arguments may be in any order: the older snapshot is the one that was opened first, as in
// btree.Diff. An error comes last and without a change: *vk.OptionError also for a view of Graph.Now, and those of
// btree.Diff.
func Diff(ctx context.Context, older, newer *View) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		if err := cmp.Or(older.snapshot("older"), newer.snapshot("newer")); err != nil {
			yield(Change{}, err)
			return
		}
		for c, err := range btree.Diff(ctx, older.At(), newer.At()) {
			if err != nil {
				yield(Change{}, err)
				return
			}
			from, to := edgelist.Ends(c.Key)
			if to < from && !older.rules.Directed {
				continue
			}
			change := Change{graph.Edge{From: from, To: to, Weight: weightOf(c.New)}, structures.Insert}
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
