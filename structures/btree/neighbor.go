package btree

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/ordered"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// Successor finds the least key above each key. Errors of this and the other three: those of Find, and
// *structures.StuckError where the tree's links lead in circles, which only a stray write can cause.
func (t *Tree) Successor(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return t.reader.Neighbors(ctx, structures.Successor, keys)
}

// Predecessor finds the greatest key below each key.
func (t *Tree) Predecessor(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return t.reader.Neighbors(ctx, structures.Predecessor, keys)
}

// Floor finds the greatest key up to each key, itself included.
func (t *Tree) Floor(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return t.reader.Neighbors(ctx, structures.Floor, keys)
}

// Ceil finds the least key from each key on, itself included.
func (t *Tree) Ceil(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return t.reader.Neighbors(ctx, structures.Ceil, keys)
}

// Min returns the pair with the least key; found is false in an empty tree.
func (t *Tree) Min(ctx context.Context) (key, value uint32, found bool, err error) {
	return t.reader.Min(ctx)
}

// Max returns the pair with the greatest key.
func (t *Tree) Max(ctx context.Context) (key, value uint32, found bool, err error) {
	return t.reader.Max(ctx)
}

// maxNeighborVisits is how many nodes a search for a neighbor visits in one dispatch at most. A leaf is empty where
// deletions have emptied it, so that hardly any search visits more than two.
const maxNeighborVisits = 1 << 14

// NeighborOn records the search for neighbors on a stream and does not wait. The tree must not change until it is done.
// Where it measured faster, the keys are brought into order first, as FindOn does by AutoOrder; what is left over from
// an earlier call is not. FinishNeighbors carries on what is left pending. Errors as FindOn's.
func (t *Tree) NeighborOn(s *vk.Stream, to structures.Direction, n structures.DeviceNeighbors) error {
	return t.reader.NeighborOn(s, to, n)
}

// FinishNeighbors waits for the stream, and carries on the searches that NeighborOn has left pending, until n.Left is 0.
// The tree must not change meanwhile. Errors: the context's; *structures.PendingError around *structures.StuckError where
// links lead in circles, which only a stray write can cause, or around what FindOn returns.
func (t *Tree) FinishNeighbors(ctx context.Context, s *vk.Stream, to structures.Direction, n structures.DeviceNeighbors) error {
	return t.reader.FinishNeighbors(ctx, s, to, n)
}

type neighborPush struct {
	Tree                                     Device
	Top                                      top
	Keys, OutKeys, OutValues, Statuses, Left uint64
	Count, Strict, Resume, Rounds            uint32
}

// recordNeighbors records searches for neighbors.
func (t *Tree) recordNeighbors(s *vk.Stream, to structures.Direction, q ordered.Neighbors) error {
	if q.N == 0 {
		return nil
	}
	if q.Visits == 0 {
		q.Visits = maxNeighborVisits
	}
	inOrder := !q.Resume && t.ordersNeighbors(q.N)
	scratch, err := t.scratch.Take(s, t.neighborPlan(q.N, inOrder, 0).size)
	if err != nil {
		return err
	}
	plan := t.neighborPlan(q.N, inOrder, scratch)
	top, err := t.recordTop(s, plan.top, plan.topBits)
	if err != nil {
		return err
	}
	if inOrder {
		return t.neighborsInOrder(s, to, q, plan, top)
	}
	return t.neighborsOfEach(s, to, q, top)
}

func (t *Tree) neighborsOfEach(s *vk.Stream, to structures.Direction, q ordered.Neighbors, top top) error {
	upward, strict := sense(to)
	k, err := kernel[neighborPush](t, s, "neighbor", t.queries.neighbor, recording.Constant("UPWARD", word(upward)))
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(q.N), neighborPush{
		t.device(), top, q.Keys, q.OutKeys, q.OutValues, q.Status, q.Left,
		uint32(q.N), word(strict), word(q.Resume), uint32(q.Visits),
	})
	return nil
}

// neighborsInOrder records searches for neighbors in the order of the parts that the keys are brought into.
func (t *Tree) neighborsInOrder(s *vk.Stream, to structures.Direction, q ordered.Neighbors, plan pointPlan, top top) error {
	inOrder := q
	inOrder.Keys, inOrder.OutKeys, inOrder.OutValues, inOrder.Status = plan.keys, plan.keys, plan.values, plan.bytes
	if err := t.recordOrder(s, q.Keys, q.N, plan); err != nil {
		return err
	}
	if err := t.neighborsOfEach(s, to, inOrder, top); err != nil {
		return err
	}
	if err := t.recordFetch(s, q.N, fetch{places: plan.places, words: plan.keys, toWords: q.OutKeys}); err != nil {
		return err
	}
	return t.recordFetch(s, q.N, fetch{
		places: plan.places, words: plan.values, bytes: plan.bytes, toWords: q.OutValues, toBytes: q.Status,
		usual: uint32(structures.Found),
	})
}

// sense says whether a neighbor is to be above its key, and whether the key itself is none.
func sense(to structures.Direction) (upward, strict bool) {
	return to == structures.Successor || to == structures.Ceil, to == structures.Successor || to == structures.Predecessor
}

func word(condition bool) uint32 {
	if condition {
		return 1
	}
	return 0
}
