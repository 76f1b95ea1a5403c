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

// FindOn records lookups on a stream and does not wait. The tree must not change until they are done. AutoOrder is
// OneByOne: since each search begins just above the leaves, to sort the keys first paid at no size that was measured
// (docs/benchmarks.md). Streams keep temporary memory of the tree's until Close. Errors: vk.ErrClosed,
// *structures.LengthError for buffers that are too short, *vk.OutOfMemoryError.
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

type findSortedPush struct {
	Tree                  Device
	Top                   top
	Keys, Places, Answers uint64
	Count                 uint32
}

// findPlan is how the scratch of lookups is divided.
type findPlan struct {
	topBits       int
	top           uint64
	keys, places  uint64 // sorted
	numbers, sort uint64 // before the search
	answers       uint64 // afterwards, in the same memory
	bytes         int
}

func (t *Tree) findPlan(n int, sorted bool, scratch uint64) findPlan {
	p := recording.Parts{Base: scratch}
	f := findPlan{topBits: t.topBits(n)}
	f.top = p.Take(topBytes(f.topBits))
	if sorted {
		f.keys, f.places = p.Take(4*n), p.Take(4*n)
		before, after := p, p
		f.numbers, f.sort = before.Take(4*n), before.Take(t.primitives.SortScratch(n, true))
		f.answers = after.Take(8 * n)
		p.Used = max(before.Used, after.Used)
	}
	f.bytes = int(p.Used)
	return f
}

// recordFind records lookups.
func (t *Tree) recordFind(s *vk.Stream, l lookups, order structures.LookupOrder) error {
	if l.n == 0 {
		return nil
	}
	sorted := order == structures.SortedFirst
	scratch, err := t.scratch.Take(s, t.findPlan(l.n, sorted, 0).bytes)
	if err != nil {
		return err
	}
	plan := t.findPlan(l.n, sorted, scratch)
	top, err := t.recordTop(s, plan.top, plan.topBits)
	if err != nil {
		return err
	}
	if sorted {
		return t.findSorted(s, l, plan, top)
	}
	k, err := kernel[findPush](t, "find.each", t.queries.find, t.queries.constant())
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(l.n), findPush{t.device(), top, l.keys, l.values, l.found, uint32(l.n)})
	return nil
}

type answerPush struct {
	Answers, Values, Found uint64
	Count                  uint32
}

// findSorted records lookups that are sorted first, by so many of their first bits that those of one subtree come
// together.
func (t *Tree) findSorted(s *vk.Stream, l lookups, plan findPlan, top top) error {
	k, err := kernel[findSortedPush](t, "find.sorted", t.queries.findSorted, t.queries.constant())
	if err != nil {
		return err
	}
	answer, err := recording.Kernel[answerPush](t.kernels, "runs/find_answer", 256)
	if err != nil {
		return err
	}
	n := uint32(l.n)
	err = cmp.Or(t.primitives.Number(s, plan.numbers, l.n), t.primitives.Sort(s, primitives.SortArgs{
		Keys: l.keys, Values: plan.numbers, OutKeys: plan.keys, OutValues: plan.places,
		Length: primitives.Length{N: l.n}, FirstBit: 32 - t.queries.sortBits, Scratch: plan.sort,
	}))
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(l.n), findSortedPush{t.device(), top, plan.keys, plan.places, plan.answers, n})
	answer.Dispatch(s, (l.n+answer.Workgroup()-1)/answer.Workgroup(), answerPush{plan.answers, l.values, l.found, n})
	return nil
}
