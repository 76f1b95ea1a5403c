package btree

import (
	"cmp"
	"context"
	"unsafe"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Find returns the value of each key, 0 where it is absent, and whether it is there. Errors: vk.ErrClosed,
// *vk.OutOfMemoryError, the context's.
func (t *Tree) Find(ctx context.Context, keys []uint32) (values []uint32, found []bool, err error) {
	if err := t.usable(ctx); err != nil {
		return nil, nil, err
	}
	t.scratch.Settle()
	values, found = make([]uint32, len(keys)), make([]bool, len(keys))
	flags := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(found))), len(found)) // the kernel writes 0 and 1
	columns := []structures.Column{structures.In(keys), structures.Out(values), structures.Out(flags)}
	err = t.feed.Run(ctx, len(keys), columns, structures.Task{
		Record: func(s *vk.Stream, c structures.Chunk) error {
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
	err := cmp.Or(t.isOpen(), recording.Need(l.Keys, "keys", l.Count, l.Count), recording.Need(l.Values, "values", l.Count, l.Count),
		recording.Need(l.Found, "found bytes", l.Count, recording.Padded(l.Count)))
	if err != nil {
		return err
	}
	return t.recordFind(s, lookups{l.Keys.Address(), l.Values.Address(), l.Found.Address(), l.Count}, l.Order)
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

// Keys are brought into order first from so many lookups and nodes on: below, what it saves is less than what it takes.
const (
	orderedLookups = 1 << 23
	orderedNodes   = 1 << 21
)

// inOrder says whether keys are to be brought into order first.
func (t *Tree) inOrder(n int, order structures.LookupOrder) bool {
	if order == structures.AutoOrder {
		return t.d.Info().Type != vk.CPU && n >= orderedLookups && t.nodes >= orderedNodes
	}
	return order == structures.SortedFirst
}

// findPlan is how the scratch of lookups is divided.
type findPlan struct {
	topBits   int
	top       uint64
	keys      uint64 // in order; then the values that were found, in their places
	places    uint64 // of each key, in order
	found     uint64 // in order
	partition uint64
	bytes     int
}

func (t *Tree) findPlan(n int, ordered bool, scratch uint64) findPlan {
	p := recording.Parts{Base: scratch}
	f := findPlan{topBits: t.topBits(n)}
	if ordered {
		f.topBits = t.orderedTopBits(n)
		f.keys, f.places, f.found = p.Take(4*n), p.Take(4*n), p.Take(recording.Padded(n))
		f.partition = p.Take(t.primitives.PartitionScratch(t.queries.partBits))
	}
	f.top = p.Take(topBytes(f.topBits))
	f.bytes = int(p.Used)
	return f
}

// recordFind records lookups.
func (t *Tree) recordFind(s *vk.Stream, l lookups, order structures.LookupOrder) error {
	if l.n == 0 {
		return nil
	}
	ordered := t.inOrder(l.n, order)
	scratch, err := t.scratch.Take(s, t.findPlan(l.n, ordered, 0).bytes)
	if err != nil {
		return err
	}
	plan := t.findPlan(l.n, ordered, scratch)
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
	k, err := kernel[findPush](t, "find", t.queries.find, t.queries.constant())
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(l.n), findPush{t.device(), top, l.keys, l.values, l.found, uint32(l.n)})
	return nil
}

type fetchPush struct {
	Places, FoundValues, FoundFlags uint64
	Values, Found                   uint64
	Count                           uint32
}

// fetchWorkgroup, times the four answers that a lane fetches, is the tile that a partition brings to the parts: its
// answers stand together in each part.
const fetchWorkgroup = 1024

// findInOrder records lookups in the order of the parts that the keys are brought into.
func (t *Tree) findInOrder(s *vk.Stream, l lookups, plan findPlan, top top) error {
	fetch, err := recording.Kernel[fetchPush](t.kernels, "btree/find_fetch", min(fetchWorkgroup, t.d.Info().MaxWorkgroup))
	if err != nil {
		return err
	}
	err = cmp.Or(t.primitives.Partition(s, primitives.PartitionArgs{
		Keys: l.keys, OutKeys: plan.keys, Places: plan.places, Length: primitives.Length{N: l.n}, Bits: t.queries.partBits, Scratch: plan.partition,
	}), t.findEach(s, lookups{plan.keys, plan.keys, plan.found, l.n}, top))
	if err != nil {
		return err
	}
	each := 4 * fetch.Workgroup()
	fetch.Dispatch(s, (l.n+each-1)/each, fetchPush{plan.places, plan.keys, plan.found, l.values, l.found, uint32(l.n)})
	return nil
}
