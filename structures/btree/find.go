package btree

import (
	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/recording"
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
