package btree

import (
	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// maxNeighborVisits is how many nodes a search for a neighbor visits in one dispatch at most. Only leaves emptied by
// deletions are empty, so few searches visit more than two.
const maxNeighborVisits = 1 << 14

type neighborPush struct {
	Tree                                     Description
	Index                                    prefixIndex
	Keys, OutKeys, OutValues, Statuses, Left uint64
	Count                                    recording.Length
	Strict, Resume, Visits                   uint32
}

// Neighbors records searches for neighbors.
func (r recorder) Neighbors(s *vk.Stream, to structures.Direction, q ordered.Neighbors) error {
	if q.N == 0 {
		return nil
	}
	if q.Visits == 0 {
		q.Visits = maxNeighborVisits
	}
	inOrder := !q.Resume && r.ordersNeighbors(q.N)
	scratch, err := r.scratch.Take(s, r.neighborPlan(q.N, inOrder, 0).size)
	if err != nil {
		return err
	}
	plan := r.neighborPlan(q.N, inOrder, scratch)
	index, err := r.recordIndex(s, plan.index, plan.indexBits,
		askedFor{keys: q.Keys, number: recording.Length{At: q.CountAt, N: uint32(q.N)}})
	if err != nil {
		return err
	}
	if inOrder {
		return r.neighborsInOrder(s, to, q, plan, index)
	}
	return r.neighborsOfEach(s, to, q, index)
}

func (r recorder) neighborsOfEach(s *vk.Stream, to structures.Direction, q ordered.Neighbors,
	index prefixIndex) error {
	upward, strict := sense(to)
	k, err := r.neighborKernel(r.past(), upward).Kernel(r.Kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(q.N), neighborPush{
		r.description(s), index, q.Keys, q.OutKeys, q.OutValues, q.Status, q.Left,
		recording.Length{At: q.CountAt, N: uint32(q.N)}, word(strict), word(q.Resume), uint32(q.Visits),
	})
	return nil
}

// neighborsInOrder records searches for neighbors whose keys are partitioned first.
func (r recorder) neighborsInOrder(s *vk.Stream, to structures.Direction, q ordered.Neighbors, plan pointPlan,
	index prefixIndex) error {
	inOrder := q
	inOrder.Keys, inOrder.OutKeys, inOrder.OutValues, inOrder.Status = plan.keys, plan.keys, plan.values, plan.bytes
	n := primitives.Length{N: q.N, At: q.CountAt}
	if err := r.recordOrder(s, q.Keys, n, plan); err != nil {
		return err
	}
	if err := r.neighborsOfEach(s, to, inOrder, index); err != nil {
		return err
	}
	if err := r.recordFetch(s, n, fetch{destinations: plan.destinations, width: r.width, words: plan.keys,
		toWords: q.OutKeys}); err != nil {
		return err
	}
	return r.recordFetch(s, n, fetch{
		destinations: plan.destinations, width: r.width, words: plan.values, bytes: plan.bytes,
		toWords: q.OutValues, toBytes: q.Status, usual: uint32(structures.Found),
	})
}

// sense reports whether the neighbor is above its key, and whether the key itself does not count.
func sense(to structures.Direction) (upward, strict bool) {
	return to == structures.Successor || to == structures.Ceil,
		to == structures.Successor || to == structures.Predecessor
}

func word(condition bool) uint32 {
	if condition {
		return 1
	}
	return 0
}
