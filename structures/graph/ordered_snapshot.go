package graph

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// OrderedSnapshot is an Ordered as it was at a time, while that is changed: what it holds doesn't change as long as it
// is open. Several goroutines may use one.
type OrderedSnapshot struct {
	orderedArcs
	at     *btree.Snapshot[uint64, uint64]
	closed atomic.Bool
}

// Snapshot opens one, behind the calls that came before; it doesn't wait for the device. One that is not closed keeps
// memory (btree.Tree.Snapshot, whose errors these are).
func (g *Ordered) Snapshot(ctx context.Context) (*OrderedSnapshot, error) {
	if !g.made() {
		return nil, vk.ErrNotOpen
	}
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
func (s *OrderedSnapshot) At() *btree.Snapshot[uint64, uint64] {
	if s == nil {
		return nil
	}
	return s.at
}

// Close ends the snapshot. Further calls do nothing.
func (s *OrderedSnapshot) Close() error {
	if s == nil || s.at == nil {
		return vk.ErrNotOpen
	}
	s.closed.Store(true)
	return s.at.Close()
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
func DiffEdges(ctx context.Context, older, newer *OrderedSnapshot) iter.Seq2[EdgeChange, error] {
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
