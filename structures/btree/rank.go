package btree

import (
	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

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
	if err := r.recordList(s, c.listing); err != nil {
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
