package btree

import (
	"github.com/vkds/vkds/structures/internal/ordered"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

type findPush struct {
	Tree                Device
	Index               prefixIndex
	Keys, Values, Found uint64
	Count               recording.Length
}

// recordFind records lookups.
func (t *tree[W]) recordFind(s *vk.Stream, l ordered.Lookups) error {
	if l.N == 0 {
		return nil
	}
	inOrder := t.inOrder(l.N, l.Order)
	scratch, err := t.scratch.Take(s, t.pointPlan(l.N, inOrder, 0).size)
	if err != nil {
		return err
	}
	plan := t.pointPlan(l.N, inOrder, scratch)
	index, err := t.recordIndex(s, plan.index, plan.indexBits,
		askedFor{keys: l.Keys, number: recording.Length{At: l.CountAt, N: uint32(l.N)}})
	if err != nil {
		return err
	}
	if inOrder {
		return t.findInOrder(s, l, plan, index)
	}
	return t.findEach(s, l, index)
}

func (t *tree[W]) findEach(s *vk.Stream, l ordered.Lookups, index prefixIndex) error {
	k, err := kernel[findPush](t, s, t.sized("find"), t.queries.find, t.queries.constant())
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(l.N), findPush{t.device(), index, l.Keys, l.Values, l.Found,
		recording.Length{At: l.CountAt, N: uint32(l.N)}})
	return nil
}

// findInOrder records lookups in the order of the parts that the keys are brought into.
func (t *tree[W]) findInOrder(s *vk.Stream, l ordered.Lookups, plan pointPlan, index prefixIndex) error {
	n := primitives.Length{N: l.N, At: l.CountAt}
	if err := t.recordOrder(s, l.Keys, n, plan); err != nil {
		return err
	}
	inOrder := l
	inOrder.Keys, inOrder.Values, inOrder.Found = plan.keys, plan.keys, plan.bytes
	if err := t.findEach(s, inOrder, index); err != nil {
		return err
	}
	return t.recordFetch(s, n, fetch{destinations: plan.destinations, width: t.width, words: plan.keys,
		bytes: plan.bytes, toWords: l.Values, toBytes: l.Found, usual: 1})
}
