package btree

import (
	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

type findPush struct {
	Tree                Description
	Index               prefixIndex
	Keys, Values, Found uint64
	Count               recording.Length
}

// Find records lookups.
func (r recorder) Find(s *vk.Stream, l ordered.Lookups) error {
	if l.N == 0 {
		return nil
	}
	inOrder := r.inOrder(l.N, l.Order)
	scratch, err := r.scratch.Take(s, r.pointPlan(l.N, inOrder, 0).size)
	if err != nil {
		return err
	}
	plan := r.pointPlan(l.N, inOrder, scratch)
	index, err := r.recordIndex(s, plan.index, plan.indexBits,
		askedFor{keys: l.Keys, number: recording.Length{At: l.CountAt, N: uint32(l.N)}})
	if err != nil {
		return err
	}
	if inOrder {
		return r.findInOrder(s, l, plan, index)
	}
	return r.findEach(s, l, index)
}

func (r recorder) findEach(s *vk.Stream, l ordered.Lookups, index prefixIndex) error {
	k, err := r.findKernel(r.past()).Kernel(r.Kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(l.N), findPush{r.description(s), index, l.Keys, l.Values, l.Found,
		recording.Length{At: l.CountAt, N: uint32(l.N)}})
	return nil
}

// findInOrder records lookups whose keys are partitioned first.
func (r recorder) findInOrder(s *vk.Stream, l ordered.Lookups, plan pointPlan, index prefixIndex) error {
	n := primitives.Length{N: l.N, At: l.CountAt}
	if err := r.recordOrder(s, l.Keys, n, plan); err != nil {
		return err
	}
	inOrder := l
	inOrder.Keys, inOrder.Values, inOrder.Found = plan.keys, plan.keys, plan.bytes
	if err := r.findEach(s, inOrder, index); err != nil {
		return err
	}
	return r.recordFetch(s, n, fetch{destinations: plan.destinations, width: r.width, words: plan.keys,
		bytes: plan.bytes, toWords: l.Values, toBytes: l.Found, usual: 1})
}

// maxNeighborVisits is how many leaves a tile visits in one dispatch for each of its searches. Only leaves emptied by
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

// leafList is LeafList of shaders/btree/leaf_list.glsl.
type leafList struct {
	Lows, Leaves, Before uint64
	Listed               recording.Length
}

type rankPush struct {
	Tree        Description
	List        leafList
	Keys, Ranks uint64
	Count       recording.Length
}

type selectPush struct {
	Tree                                Description
	List                                leafList
	Ranks, OutKeys, OutValues, Statuses uint64
	Count                               recording.Length
}

// countedLeaves is the division of the scratch memory of recordLeaves.
type countedLeaves struct {
	listing
	order        leafOrder
	counts, sums uint64 // the pairs of each leaf, and of all leaves before it
	scan         uint64
	bytes        int
}

func (t *tree) countedLeavesIn(scratch uint64) countedLeaves {
	p, most := recording.Parts{Base: scratch}, t.mostNodes()
	c := countedLeaves{listing: listingIn(&p, most, most, t.width), order: t.leafOrderIn(&p, most)}
	c.counts, c.sums = p.Take(4*most), p.Take(4*most)
	c.scan = p.Take(t.primitives.Scratch(primitives.ScanArgs{Length: primitives.Length{N: most}}))
	c.bytes = int(p.Used)
	return c
}

// recordLeaves records the listing of all leaves in key order, and the counting of their pairs. It writes the number of
// all pairs at total, unless that is 0. If e is not nil, it also records the writing of the pairs.
func (r recorder) recordLeaves(s *vk.Stream, total uint64, e *exportPush) (leafList, error) {
	scratch, err := r.scratch.Take(s, r.countedLeavesIn(0).bytes)
	if err != nil {
		return leafList{}, err
	}
	c := r.countedLeavesIn(scratch)
	if err := r.recordList(s, c.listing, depths-1, 0); err != nil {
		return leafList{}, err
	}
	n := c.listing.leaves()
	if err := r.recordLeafOrder(s, c.listing, n, c.order); err != nil {
		return leafList{}, err
	}
	push := exportPush{Tree: r.description(s), Slabs: c.order.leaves, Counts: c.counts, Offsets: c.sums,
		Leaves: recording.Length{At: n.At, N: uint32(n.N)}}
	if e != nil {
		push.Keys, push.Values, push.Capacity = e.Keys, e.Values, e.Capacity
	}
	list := leafList{Lows: c.order.lows, Leaves: c.order.leaves, Before: c.sums,
		Listed: recording.Length{At: n.At, N: uint32(n.N)}}
	return list, r.export(s, push, c.scan, total, e != nil)
}

func (r recorder) Rank(s *vk.Stream, q ordered.Ranks) error {
	return byLeaves(r, s, r.rankKernel(r.past()), q.N, func(l leafList) rankPush {
		return rankPush{r.description(s), l, q.Keys, q.Out, recording.Length{At: q.CountAt, N: uint32(q.N)}}
	})
}

func (r recorder) Select(s *vk.Stream, n ordered.Neighbors) error {
	return byLeaves(r, s, r.selectKernel(r.past()), n.N, func(l leafList) selectPush {
		return selectPush{
			r.description(s), l, n.Keys, n.OutKeys, n.OutValues, n.Status, recording.Length{At: n.CountAt,
				N: uint32(n.N)},
		}
	})
}

// byLeaves records n queries by a kernel that searches the leaves in key order.
func byLeaves[P any](r recorder, s *vk.Stream, of recording.Spec[P], n int,
	push func(leafList) P) error {
	if n == 0 {
		return nil
	}
	list, err := r.recordLeaves(s, 0, nil)
	if err != nil {
		return err
	}
	k, err := of.Kernel(r.Kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(n), push(list))
	return nil
}

func (r recorder) Export(s *vk.Stream, e structures.DeviceExport) error {
	_, err := r.recordLeaves(s, e.Total.Address(), &exportPush{
		Keys: e.Keys.Address(), Values: e.Values.Address(),
		Capacity: uint32(min(e.Keys.Len()>>r.width, e.Values.Len()>>r.width, recording.MaxBatch)),
	})
	return err
}
