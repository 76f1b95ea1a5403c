package btree

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// Find returns the value of each key, 0 where it is absent, and whether it is there. Errors: vk.ErrClosed,
// *vk.OutOfMemoryError, the context's.
func (t *Tree) Find(ctx context.Context, keys []uint32) (values []uint32, found []bool, err error) {
	if err := t.gate.Enter(ctx); err != nil {
		return nil, nil, err
	}
	defer t.gate.Leave()
	values, found = make([]uint32, len(keys)), make([]bool, len(keys))
	columns := []pipeline.Column{pipeline.In(keys), pipeline.Out(values), pipeline.Out(found)}
	err = t.pipeline.Run(ctx, len(keys), columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return t.recordFind(s, lookups{c.Columns[0], c.Columns[1], c.Columns[2], c.Count}, structures.AutoOrder)
		},
		Progress: t.o.Progress,
	})
	return values, found, err
}

// FindOn records lookups on a stream and does not wait. The tree must not change until they are done. SortedFirst brings
// the keys into 2^8 parts, in order (primitives.Partition), looks them up in that order, so that those under way share
// what the caches hold, and fetches each answer from where its key went. AutoOrder does so where it measured faster
// (docs/benchmarks.md): for many lookups in a tree that is far larger than a GPU's caches. Streams keep temporary memory
// of the tree's until Close. Errors: vk.ErrClosed, *structures.LengthError for buffers that are too short,
// *vk.OutOfMemoryError.
func (t *Tree) FindOn(s *vk.Stream, l structures.DeviceLookups) error {
	if err := t.gate.Enter(context.Background()); err != nil {
		return err
	}
	defer t.gate.Leave()
	err := cmp.Or(t.d.Accept("stream", s), recording.Need(t.d, l.Keys, "keys", l.Count, l.Count), recording.Need(t.d, l.Values, "values", l.Count, l.Count),
		recording.Need(t.d, l.Found, "found bytes", l.Count, recording.Padded(l.Count)))
	if err != nil {
		return err
	}
	return t.on(s, func() error {
		return t.recordFind(s, lookups{l.Keys.Address(), l.Values.Address(), l.Found.Address(), l.Count}, l.Order)
	})
}

// lookups are lookups on the device: addresses.
type lookups struct {
	keys, values uint64 // a word a lookup
	found        uint64 // a byte a lookup, padded to whole words
	n            int
}

type findPush struct {
	Tree                Device
	Top                 top
	Keys, Values, Found uint64
	Count               uint32
}

// recordFind records lookups.
func (t *Tree) recordFind(s *vk.Stream, l lookups, order structures.LookupOrder) error {
	if l.n == 0 {
		return nil
	}
	ordered := t.inOrder(l.n, order)
	scratch, err := t.scratch.Take(s, t.pointPlan(l.n, ordered, 0).size)
	if err != nil {
		return err
	}
	plan := t.pointPlan(l.n, ordered, scratch)
	top, err := t.recordTop(s, plan.top, plan.topBits)
	if err != nil {
		return err
	}
	if ordered {
		return t.findInOrder(s, l, plan, top)
	}
	return t.findEach(s, l, top)
}

func (t *Tree) findEach(s *vk.Stream, l lookups, top top) error {
	k, err := kernel[findPush](t, s, "find", t.queries.find, t.queries.constant())
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(l.n), findPush{t.device(), top, l.keys, l.values, l.found, uint32(l.n)})
	return nil
}

// findInOrder records lookups in the order of the parts that the keys are brought into.
func (t *Tree) findInOrder(s *vk.Stream, l lookups, plan pointPlan, top top) error {
	if err := t.recordOrder(s, l.keys, l.n, plan); err != nil {
		return err
	}
	if err := t.findEach(s, lookups{plan.keys, plan.keys, plan.bytes, l.n}, top); err != nil {
		return err
	}
	return t.recordFetch(s, l.n, fetch{places: plan.places, words: plan.keys, bytes: plan.bytes, toWords: l.values, toBytes: l.found, usual: 1})
}
