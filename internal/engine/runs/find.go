package runs

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// FindArgs are the operands of Find and FindSorted.
type FindArgs struct {
	Keys   uint64 // the key of each query
	Values uint64 // out: the value for each query, 0 if the key is absent
	Found  uint64 // out: a byte for each query, 1 if the key is there, else 0; room for N rounded up to a multiple of 4
	N      int    // queries
	// CountAt is 0, or the address of the number of queries, at most N.
	CountAt uint64

	Scratch uint64 // for FindSorted only: FindSortedScratch bytes
}

func (a FindArgs) count() recording.Length { return recording.Length{At: a.CountAt, N: uint32(a.N)} }

type findPush struct {
	Stack               Stack
	Keys, Values, Found uint64
	Count               recording.Length
	Each                uint32
}

type findSortedPush struct {
	Stack                  Stack
	Keys, Sources, Answers uint64
	Count                  recording.Length
	Each                   uint32
}

type answerPush struct {
	Answers, Values, Found uint64
	Count                  recording.Length
}

// layout is the division of a search of runs among workgroups.
type layout struct {
	workgroup int
	tile      uint32 // lanes that read a node together
	each      int    // queries of an invocation, at most 32; fewer if the device would have too little to do
	wanted    int    // workgroups that keep the device busy
}

// layoutsFor returns the layouts that measured best, for queries in any order and for sorted ones.
func layoutsFor(d *vk.Device) (each, sorted layout) {
	i := d.Info()
	if i.Type == vk.CPU {
		each = layout{workgroup: 128, tile: 1, each: 32, wanted: 16}
		return each, each
	}
	tile := uint32(min(8, d.SubgroupSize()))
	return layout{workgroup: min(512, i.MaxWorkgroup), tile: tile, each: 16, wanted: 1024},
		layout{workgroup: min(1024, i.MaxWorkgroup), tile: tile, each: 8, wanted: 512}
}

func (o layout) eachOf(n int) int { return max(1, min(o.each, n/(o.workgroup*o.wanted))) }

// Find records lookups, one by one. This is best for few queries, and for one run. It is the individual approach of the
// paper's section IV-B.
func (q *Queries) Find(s *vk.Stream, st Stack, a FindArgs) error {
	if err := check(a.N); err != nil {
		return err
	}
	o := q.each
	k, err := q.of.find.Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	each := o.eachOf(a.N)
	k.Dispatch(s, groups(a.N, o.workgroup*each), findPush{st, a.Keys, a.Values, a.Found, a.count(), uint32(each)})
	return nil
}

// firstBit is the first of the bits by which queries are sorted. Queries that differ only in lower bits may be in any
// order: they read a part of 2^firstBit keys of each run, which fits the caches.
const firstBit = 16

// findPlan is the division of the scratch memory of FindSorted.
type findPlan struct {
	keys, sources uint64 // sorted
	indices, sort uint64 // before the search
	answers       uint64 // afterwards, in the same memory
	bytes         uint64
}

func (q *Queries) findPlan(n int, scratch uint64) findPlan {
	var f findPlan
	p := recording.Parts{Base: scratch}
	f.keys, f.sources = p.Take(q.bytes*n), p.Take(4*n)
	before, after := p, p
	numbered := primitives.SortArgs{Length: primitives.Length{N: n}, Values: recording.Align, Widths: q.numbered()}
	f.indices, f.sort = before.Take(4*n), before.Take(q.p.Scratch(numbered))
	f.answers = after.Take(2 * q.bytes * n)
	f.bytes = max(before.Used, after.Used)
	return f
}

// FindSortedScratch returns the bytes of scratch memory that FindSorted needs for up to n queries.
func (q *Queries) FindSortedScratch(n int) int {
	return int(q.findPlan(max(0, min(n, MaxQueries)), 0).bytes)
}

// FindSorted records lookups that are sorted first, so that neighboring lanes read the same memory. This is best for
// many queries over many runs. It is the bulk approach of the paper's section IV-B.
func (q *Queries) FindSorted(s *vk.Stream, st Stack, a FindArgs) error {
	if err := check(a.N); err != nil {
		return err
	}
	if a.N == 0 {
		return nil
	}
	o := q.sorted
	find, err := q.of.findSorted.Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	answer, err := q.of.answer.Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	f := q.findPlan(a.N, a.Scratch)
	n := a.count()
	if err := q.p.Iota(s, f.indices, a.N); err != nil {
		return err
	}
	err = q.p.Sort(s, primitives.SortArgs{
		Keys: a.Keys, Values: f.indices, OutKeys: f.keys, OutValues: f.sources,
		Length: primitives.Length{N: a.N, At: a.CountAt}, Widths: q.numbered(), FirstBit: firstBit,
		Scratch: f.sort,
	})
	if err != nil {
		return err
	}
	each := o.eachOf(a.N)
	find.Dispatch(s, groups(a.N, o.workgroup*each), findSortedPush{st, f.keys, f.sources, f.answers, n, uint32(each)})
	answer.Dispatch(s, groups(a.N, answer.Workgroup()), answerPush{f.answers, a.Values, a.Found, n})
	return nil
}

// Sorted reports whether FindSorted measured faster for n queries. Sorting pays if there are several runs to search,
// and enough queries to keep a large device busy.
func Sorted(n int, st Stack) bool { return st.Runs() > 2 && n*st.Runs() >= 1<<22 }
