package graph

import (
	"context"
	"iter"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// Snapshot opens a view of the graph as it is after the calls that came before. It doesn't wait for the device. A view
// that is not closed keeps memory (btree.Tree.Snapshot, whose errors these are).
func (g *Ordered) Snapshot(ctx context.Context) (*View, error) {
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
	v := &View{arcs: at, on: at.On, length: at.Len, d: now.d, o: now.o, at: at}
	v.extent.Store(now.extent.Load())
	v.loops.Store(now.loops.Load())
	v.alone = func(ctx context.Context, f func() error) error {
		return now.ask(ctx, func(context.Context) error { return f() })
	}
	v.enter = func(ctx context.Context) error {
		if v.closed.Load() {
			return vk.ErrClosed
		}
		return now.ask(ctx, func(context.Context) error { return nil }) // it is open, and there is time
	}
	v.leave = func() {}
	return v, nil
}

// At is the snapshot of the tree's arcs, for queries on streams and kernels of one's own (Ordered.Tree). It is nil of
// Ordered.Now.
func (v *View) At() *btree.Snapshot[uint64, uint64] {
	if v == nil {
		return nil
	}
	return v.at
}

// Close ends a snapshot. Further calls do nothing, and so does Close of Ordered.Now.
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

// EdgeChange describes an edge that differs between two snapshots. In an undirected graph From is the lesser end. The
// weight is that of the newer snapshot, or, if the edge is gone, that of the older one.
type EdgeChange struct {
	Edge
	Kind structures.Kind // what has happened to it: InsertUnique, Insert (its weight is another one) or Delete
}

// DiffEdges returns the edges that differ between two snapshots of one graph, ascending, in time that goes by what has
// changed. As btree.Diff does, it goes by the times of the snapshots, not by their places. An error comes last, with no
// change: those of btree.Diff.
func DiffEdges(ctx context.Context, older, newer *View) iter.Seq2[EdgeChange, error] {
	return func(yield func(EdgeChange, error) bool) {
		for c, err := range btree.Diff(ctx, older.At(), newer.At()) {
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
