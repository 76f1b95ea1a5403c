package btree

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/ordered"
	"github.com/vkds/vkds/vk"
)

// Find returns the value of each key, 0 where it is absent, and whether it is there. Errors: vk.ErrClosed,
// *vk.OutOfMemoryError, the context's.
func (t *Tree) Find(ctx context.Context, keys []uint32) (values []uint32, found []bool, err error) {
	return t.reader.Find(ctx, keys)
}

// FindOn records lookups on a stream and does not wait. The tree must not change until they are done. SortedFirst brings
// the keys into 2^8 parts, in order (primitives.Partition), looks them up in that order, so that those under way share
// what the caches hold, and fetches each answer from where its key went. AutoOrder does so where it measured faster
// (docs/benchmarks.md): for many lookups in a tree that is far larger than a GPU's caches. Streams keep temporary memory
// of the tree's until Close. Errors: vk.ErrClosed, *structures.LengthError for buffers that are too short,
// *vk.OutOfMemoryError.
func (t *Tree) FindOn(s *vk.Stream, l structures.DeviceLookups) error { return t.reader.FindOn(s, l) }

type findPush struct {
	Tree                Device
	Top                 top
	Keys, Values, Found uint64
	Count               uint32
}

// recordFind records lookups.
func (t *Tree) recordFind(s *vk.Stream, l ordered.Lookups) error {
	if l.N == 0 {
		return nil
	}
	inOrder := t.inOrder(l.N, l.Order)
	scratch, err := t.scratch.Take(s, t.pointPlan(l.N, inOrder, 0).size)
	if err != nil {
		return err
	}
	plan := t.pointPlan(l.N, inOrder, scratch)
	top, err := t.recordTop(s, plan.top, plan.topBits)
	if err != nil {
		return err
	}
	if inOrder {
		return t.findInOrder(s, l, plan, top)
	}
	return t.findEach(s, l, top)
}

func (t *Tree) findEach(s *vk.Stream, l ordered.Lookups, top top) error {
	k, err := kernel[findPush](t, s, "find", t.queries.find, t.queries.constant())
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(l.N), findPush{t.device(), top, l.Keys, l.Values, l.Found, uint32(l.N)})
	return nil
}

// findInOrder records lookups in the order of the parts that the keys are brought into.
func (t *Tree) findInOrder(s *vk.Stream, l ordered.Lookups, plan pointPlan, top top) error {
	if err := t.recordOrder(s, l.Keys, l.N, plan); err != nil {
		return err
	}
	if err := t.findEach(s, ordered.Lookups{Keys: plan.keys, Values: plan.keys, Found: plan.bytes, N: l.N}, top); err != nil {
		return err
	}
	return t.recordFetch(s, l.N, fetch{places: plan.places, words: plan.keys, bytes: plan.bytes, toWords: l.Values, toBytes: l.Found, usual: 1})
}
