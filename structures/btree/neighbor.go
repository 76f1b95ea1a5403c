package btree

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// Successor finds the least key above each key. Errors of this and the other three: those of Find, and
// *structures.StuckError where the tree's links lead in circles, which only a stray write can cause.
func (t *Tree) Successor(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return t.neighbors(ctx, structures.Successor, keys)
}

// Predecessor finds the greatest key below each key.
func (t *Tree) Predecessor(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return t.neighbors(ctx, structures.Predecessor, keys)
}

// Floor finds the greatest key up to each key, itself included.
func (t *Tree) Floor(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return t.neighbors(ctx, structures.Floor, keys)
}

// Ceil finds the least key from each key on, itself included.
func (t *Tree) Ceil(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return t.neighbors(ctx, structures.Ceil, keys)
}

// Min returns the pair with the least key; found is false in an empty tree.
func (t *Tree) Min(ctx context.Context) (key, value uint32, found bool, err error) {
	return t.end(ctx, structures.Ceil, 0)
}

// Max returns the pair with the greatest key.
func (t *Tree) Max(ctx context.Context) (key, value uint32, found bool, err error) {
	return t.end(ctx, structures.Floor, ^uint32(0))
}

func (t *Tree) end(ctx context.Context, to structures.Direction, from uint32) (key, value uint32, found bool, err error) {
	n, err := t.neighbors(ctx, to, []uint32{from})
	if err != nil {
		return 0, 0, false, err
	}
	return n.Keys[0], n.Values[0], n.Found[0], nil
}

// A search for a neighbor visits so many nodes before it is left pending, at first and at most. A leaf is empty where
// deletions have emptied it, so that hardly any search visits more than two.
const (
	neighborVisits    = 64
	maxNeighborVisits = 1 << 14
)

func (t *Tree) neighbors(ctx context.Context, to structures.Direction, keys []uint32) (structures.Neighbors, error) {
	if err := t.gate.Enter(ctx); err != nil {
		return structures.Neighbors{}, err
	}
	defer t.gate.Leave()
	n := len(keys)
	out := structures.Neighbors{Keys: make([]uint32, n), Values: make([]uint32, n), Found: make([]bool, n)}
	statuses := make([]structures.Status, n)
	columns := []pipeline.Column{
		pipeline.In(keys), pipeline.Out(out.Keys), pipeline.Out(out.Values), pipeline.InOut(statuses),
	}
	visits, most := neighborVisits, t.mostVisits()
	made := 0 // visits of each search that is pending, since the last one was finished
	err := t.pipeline.Run(ctx, n, columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return t.recordNeighbors(s, to, neighborQueries{
				keys: c.Columns[0], outKeys: c.Columns[1], outValues: c.Columns[2], statuses: c.Columns[3], left: c.Pending,
				n: c.Count, resume: c.Retry, visits: visits,
			})
		},
		Recover: func(_ context.Context, pending int, stuck bool) error {
			if !stuck {
				made = 0
			}
			if made += visits; made > most {
				return &structures.StuckError{Operations: pending}
			}
			visits = min(4*visits, maxNeighborVisits)
			return nil
		},
		Progress: t.o.Progress,
	})
	for i, status := range statuses {
		if out.Found[i] = status == structures.Found; !out.Found[i] {
			out.Keys[i] = 0 // of one left pending, where it was to go on
		}
	}
	return out, err
}

// mostVisits is more than one search has to make, even past empty leaves alone: for each leaf a way from the root. Only
// links that lead in circles take so many.
func (t *Tree) mostVisits() int {
	const levels = 16 // BTREE_LEVELS of shaders/btree/build.glsl
	return levels * t.poolSlabs()
}

// NeighborOn records the search for neighbors on a stream and does not wait. The tree must not change until it is done.
// Where it measured faster, the keys are brought into order first, as FindOn does by AutoOrder; what is left over from
// an earlier call is not. Errors as FindOn's.
func (t *Tree) NeighborOn(s *vk.Stream, to structures.Direction, n structures.DeviceNeighbors) error {
	if err := t.gate.Enter(context.Background()); err != nil {
		return err
	}
	defer t.gate.Leave()
	if err := cmp.Or(t.d.Accept("stream", s), t.checkNeighbors(n)); err != nil {
		return err
	}
	if n.Count == 0 {
		return nil
	}
	return t.on(s, func() error {
		return t.recordNeighbors(s, to, neighborQueries{
			keys: n.Keys.Address(), outKeys: n.OutKeys.Address(), outValues: n.OutValues.Address(), statuses: n.Status.Address(),
			left: n.Left.Address(), n: n.Count, resume: n.Resume, visits: maxNeighborVisits,
		})
	})
}

func (t *Tree) checkNeighbors(n structures.DeviceNeighbors) error {
	return cmp.Or(recording.Need(t.d, n.Keys, "keys", n.Count, n.Count), recording.Need(t.d, n.OutKeys, "keys for the result", n.Count, n.Count),
		recording.Need(t.d, n.OutValues, "values", n.Count, n.Count), recording.Need(t.d, n.Status, "status bytes", n.Count, recording.Padded(n.Count)),
		recording.Need(t.d, n.Left, "words for the number left", n.Count, 1))
}

// neighborQueries are searches for neighbors on the device: addresses, as DeviceNeighbors has buffers.
type neighborQueries struct {
	keys, outKeys, outValues, statuses, left uint64
	n                                        int
	resume                                   bool
	visits                                   int // of nodes, behind which one that has found nothing is left pending
}

type neighborPush struct {
	Tree                                     Device
	Top                                      top
	Keys, OutKeys, OutValues, Statuses, Left uint64
	Count, Strict, Resume, Rounds            uint32
}

// recordNeighbors records searches for neighbors.
func (t *Tree) recordNeighbors(s *vk.Stream, to structures.Direction, q neighborQueries) error {
	if q.n == 0 {
		return nil
	}
	ordered := !q.resume && t.ordersNeighbors(q.n)
	scratch, err := t.scratch.Take(s, t.neighborPlan(q.n, ordered, 0).size)
	if err != nil {
		return err
	}
	plan := t.neighborPlan(q.n, ordered, scratch)
	top, err := t.recordTop(s, plan.top, plan.topBits)
	if err != nil {
		return err
	}
	if ordered {
		return t.neighborsInOrder(s, to, q, plan, top)
	}
	return t.neighborsOfEach(s, to, q, top)
}

func (t *Tree) neighborsOfEach(s *vk.Stream, to structures.Direction, q neighborQueries, top top) error {
	upward, strict := sense(to)
	k, err := kernel[neighborPush](t, s, "neighbor", t.queries.neighbor, recording.Constant("UPWARD", word(upward)))
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(q.n), neighborPush{
		t.device(), top, q.keys, q.outKeys, q.outValues, q.statuses, q.left,
		uint32(q.n), word(strict), word(q.resume), uint32(q.visits),
	})
	return nil
}

// neighborsInOrder records searches for neighbors in the order of the parts that the keys are brought into.
func (t *Tree) neighborsInOrder(s *vk.Stream, to structures.Direction, q neighborQueries, plan pointPlan, top top) error {
	ordered := q
	ordered.keys, ordered.outKeys, ordered.outValues, ordered.statuses = plan.keys, plan.keys, plan.values, plan.bytes
	if err := t.recordOrder(s, q.keys, q.n, plan); err != nil {
		return err
	}
	if err := t.neighborsOfEach(s, to, ordered, top); err != nil {
		return err
	}
	if err := t.recordFetch(s, q.n, fetch{places: plan.places, words: plan.keys, toWords: q.outKeys}); err != nil {
		return err
	}
	return t.recordFetch(s, q.n, fetch{
		places: plan.places, words: plan.values, bytes: plan.bytes, toWords: q.outValues, toBytes: q.statuses,
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
