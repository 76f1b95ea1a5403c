package ordered

import (
	"context"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
)

// batch is a batch of updates of the tree.
type batch struct {
	arcs
	status []structures.Status
}

// opposite returns the other arc of an edge.
func opposite(key uint64) uint64 { return key<<32 | key>>32 }

// edgeKey returns the arc of an edge that comes from the lesser end.
func edgeKey(key uint64) uint64 { return min(key, opposite(key)) }

// repair makes both arcs of each edge equal if err has left an operation done on one of them and pending on the other.
// One arc decides: the other gets its value, and operations that are pending on the first are pending on both. This
// needs no room if the batch has changed the other arc. The batch has changed one of the two, so if there is no room to
// change one arc, repair changes the other. It returns err, joined with its own error, if any.
func (b *batch) repair(ctx context.Context, tree *btree.Tree[uint64, uint64], err error) error {
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
		return joint.Error(err, failure)
	}
	return err
}

// settle makes the arcs of each edge equal: to the arc from the lesser end, or, if other is set, to the other arc. It
// returns the edges for which there was no room.
func (b *batch) settle(ctx context.Context, tree *btree.Tree[uint64, uint64], edges []uint64,
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
	var put arcs
	for i := 0; i < len(both); i += 2 {
		switch is, was := found[i], found[i+1]; {
		case is && (!was || now[i] != now[i+1]):
			put.keys, put.values = append(put.keys, both[i+1]), append(put.values, now[i])
		case !is && was:
			gone = append(gone, both[i+1])
		}
	}
	short := map[uint64]bool{}
	for kind, some := range map[structures.Kind]arcs{structures.Insert: put, structures.Delete: {keys: gone}} {
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
