package runs

import (
	"math"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// The candidates of a range are the pairs of all runs whose keys lie in it: valid ones, stale ones and tombstones.
// Count and Range read each of them once, so their time depends on the number of candidates.

// MaxCandidates is the greatest number of candidates of all ranges of one call.
const MaxCandidates = min(1<<31, math.MaxInt)

// CountArgs are the operands of Count.
type CountArgs struct {
	// Ranges has two keys for each range, aligned to the size of both: the least and the greatest key, both inclusive.
	// If the least is greater, the range is empty.
	Ranges uint64
	Out    uint64 // out: a word for each range: its number of valid pairs
	N      int    // ranges
	// CountAt is 0, or the address of the number of ranges, at most N. Later ranges count as empty.
	CountAt uint64

	// Unique says that the stack is one run without stale pairs and tombstones, as in a sorted array. Then only the
	// ends of the ranges are searched.
	Unique bool

	// Total is 0, or the address of two words, aligned to 8 bytes, for the number of candidates of all ranges, low word
	// first. If it is greater than MaxCandidates, Out is undefined.
	Total   uint64
	Scratch uint64 // CountScratch bytes
}

// RangeArgs are the operands of Range.
type RangeArgs struct {
	Ranges  uint64 // as in CountArgs
	N       int    // ranges
	CountAt uint64 // as in CountArgs
	Unique  bool   // as in CountArgs

	Offsets    uint64 // out: N+1 words: range i has the pairs Offsets[i] … Offsets[i+1]-1
	OutKeys    uint64 // out: the keys of the pairs, in the order of the ranges, and in key order in each
	OutValues  uint64
	Capacity   int // room for pairs; further pairs are counted in Offsets, but not written
	Candidates int // the most candidates of all ranges, for which there is scratch; at most MaxCandidates

	// Total is the address of two words, aligned to 8 bytes, for the number of candidates of all ranges, low word
	// first. If it is greater than Candidates, no pair is written and Offsets are undefined.
	Total   uint64
	Scratch uint64 // RangeScratch bytes
}

type boundsPush struct {
	Stack                                Stack
	Ranges, Slices, Sizes, Zeroed, Total uint64
	Number                               recording.Length
	Each                                 uint32
}

type countPush struct {
	Stack                          Stack
	Slices, Offsets, Total, Counts uint64
	Count, Limit                   uint32
}

type placePush struct {
	Stack                                               Stack
	Slices, Offsets, Total, OutKeys, OutValues, FlagsAt uint64
	Count, Limit                                        uint32
}

type copyPush struct {
	Stack                                      Stack
	Slices, Offsets, Total, OutKeys, OutValues uint64
	Count, Limit, Capacity                     uint32
}

type flagsPush struct {
	Flags, Counts uint64
	Words         uint32
}

type writePush struct {
	Flags, Before, FromKeys, FromValues, Candidates, Offsets uint64
	OutKeys, OutValues, Total, OutTotal                      uint64
	Count, Limit, Capacity                                   uint32
}

// clear records that words are set to 0.
func (q *Queries) clear(s *vk.Stream, target uint64, words int) error {
	return recording.Clear(q.kernels, s, target, words)
}

// bounds records the search for the ends of ranges.
func (q *Queries) bounds(s *vk.Stream, p boundsPush) error {
	o := q.each
	k, err := q.of.bounds.Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	n := int(p.Number.N)
	p.Each = uint32(o.eachOf(n))
	k.Dispatch(s, groups(n, o.workgroup*int(p.Each)), p)
	return nil
}

// Survey records the counting of the candidates of each range: a word for each range at out, ~0 for that number and
// more. The caller then divides ranges that are too large for one call.
func (q *Queries) Survey(s *vk.Stream, st Stack, ranges uint64, n int, out uint64) error {
	if err := check(n); err != nil {
		return err
	}
	return q.bounds(s, boundsPush{Stack: st, Ranges: ranges, Sizes: out, Number: recording.Length{N: uint32(n)}})
}

// rangePlan is the division of the scratch memory of Count and Range.
type rangePlan struct {
	total   uint64 // two words, followed by the flags; both are cleared together
	flags   uint64
	words   int    // of flags
	slices  uint64 // begin and end of each range in each run
	sizes   uint64 // candidates of each range
	offsets uint64 // the sum of those before
	scan    uint64
	keys    uint64 // of the valid pairs, at their places among the candidates
	values  uint64
	counts  uint64 // flags of each word
	before  uint64 // the sum of those before
	bytes   uint64
}

func (q *Queries) rangePlan(st Stack, n, candidates int, scratch uint64) rangePlan {
	p := recording.Parts{Base: scratch}
	r := rangePlan{words: groups(candidates, 32)}
	r.total = p.Take(8 + 4*r.words)
	r.flags = r.total + 8
	r.slices = p.Take(8 * n * st.Runs())
	r.sizes, r.offsets = p.Take(4*n), p.Take(4*n)
	r.scan = p.Take(q.p.Scratch(primitives.ScanArgs{Length: primitives.Length{N: max(n, r.words)}}))
	r.keys, r.values = p.Take(q.bytes*candidates), p.Take(q.bytes*candidates)
	r.counts, r.before = p.Take(4*r.words), p.Take(4*(r.words+1))
	r.bytes = p.Used
	return r
}

// CountScratch returns the bytes of scratch memory that Count needs for up to n ranges.
func (q *Queries) CountScratch(st Stack, n int) int {
	return int(q.rangePlan(st, max(0, min(n, MaxQueries)), 0, 0).bytes)
}

// RangeScratch returns the bytes of scratch memory that Range needs for up to n ranges with the given number of
// candidates together.
func (q *Queries) RangeScratch(st Stack, n, candidates int) int {
	return int(q.rangePlan(st, max(0, min(n, MaxQueries)), max(0, min(candidates, MaxCandidates)), 0).bytes)
}

// offsets records the first steps of Count and Range: the search for the ends of the ranges in every run, and the
// number of candidates before each range.
func (q *Queries) offsets(s *vk.Stream, st Stack, ranges uint64, number recording.Length, plan rangePlan,
	zeroed uint64) error {
	if err := q.clear(s, plan.total, 2+plan.words); err != nil {
		return err
	}
	err := q.bounds(s, boundsPush{Stack: st, Ranges: ranges, Slices: plan.slices, Sizes: plan.sizes, Zeroed: zeroed,
		Total: plan.total, Number: number})
	if err != nil {
		return err
	}
	return q.p.Scan(s, primitives.ScanArgs{In: plan.sizes, Out: plan.offsets,
		Length: primitives.Length{N: int(number.N)}, Scratch: plan.scan})
}

// rangeWorkgroup is the workgroup of the kernels that go over candidates.
const rangeWorkgroup = 256

// spread returns the number of workgroups that go over candidates: as many as a large device runs at a time, because
// only the device knows the number of candidates.
func (q *Queries) spread() int {
	if q.d.Info().Type == vk.CPU {
		return 8
	}
	return 2048
}

// Count records the counting of the valid pairs in ranges.
func (q *Queries) Count(s *vk.Stream, st Stack, a CountArgs) error {
	if err := check(a.N); err != nil {
		return err
	}
	plan, number := q.rangePlan(st, a.N, 0, a.Scratch), recording.Length{At: a.CountAt, N: uint32(a.N)}
	if a.Unique {
		if a.Total != 0 {
			if err := q.clear(s, a.Total, 2); err != nil {
				return err
			}
		}
		return q.bounds(s, boundsPush{Stack: st, Ranges: a.Ranges, Sizes: a.Out, Total: a.Total, Number: number})
	}
	if a.Total != 0 {
		plan.total = a.Total
	}
	if err := q.offsets(s, st, a.Ranges, number, plan, a.Out); err != nil {
		return err
	}
	k, err := q.of.count.Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, q.spread(), countPush{st, plan.slices, plan.offsets, plan.total, a.Out, uint32(a.N), MaxCandidates})
	return nil
}

// Range records the writing of the valid pairs of ranges.
func (q *Queries) Range(s *vk.Stream, st Stack, a RangeArgs) error {
	if err := check(a.N); err != nil {
		return err
	}
	a.Candidates = max(0, min(a.Candidates, MaxCandidates))
	a.Capacity = max(0, min(a.Capacity, MaxCandidates))
	n, limit, capacity := uint32(a.N), uint32(a.Candidates), uint32(a.Capacity)
	if a.Unique {
		return q.rangeUnique(s, st, a)
	}
	plan := q.rangePlan(st, a.N, a.Candidates, a.Scratch)
	if err := q.offsets(s, st, a.Ranges, recording.Length{At: a.CountAt, N: uint32(a.N)}, plan, 0); err != nil {
		return err
	}
	place, err := q.of.place.Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	count, err := q.of.flags.Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	write, err := q.of.write.Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	place.Dispatch(s, q.spread(), placePush{st, plan.slices, plan.offsets, plan.total, plan.keys, plan.values,
		plan.flags, n, limit})
	count.Dispatch(s, groups(plan.words, rangeWorkgroup), flagsPush{plan.flags, plan.counts, uint32(plan.words)})
	err = q.p.Scan(s, primitives.ScanArgs{
		In: plan.counts, Out: plan.before, Length: primitives.Length{N: plan.words},
		Total: plan.before + uint64(4*plan.words), Scratch: plan.scan,
	})
	if err != nil {
		return err
	}
	write.Dispatch(s, groups(max(a.Candidates, a.N+1), rangeWorkgroup), writePush{
		Flags: plan.flags, Before: plan.before, FromKeys: plan.keys, FromValues: plan.values, Candidates: plan.offsets,
		Offsets: a.Offsets,
		OutKeys: a.OutKeys, OutValues: a.OutValues, Total: plan.total, OutTotal: a.Total, Count: n, Limit: limit,
		Capacity: capacity,
	})
	return nil
}

// rangeUnique is Range if all candidates are valid: it copies them as they are.
func (q *Queries) rangeUnique(s *vk.Stream, st Stack, a RangeArgs) error {
	plan := q.rangePlan(st, a.N, 0, a.Scratch)
	k, err := q.of.copy.Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	if err := q.clear(s, a.Total, 2); err != nil {
		return err
	}
	err = q.bounds(s, boundsPush{
		Stack: st, Ranges: a.Ranges, Slices: plan.slices, Sizes: plan.sizes, Total: a.Total,
		Number: recording.Length{At: a.CountAt, N: uint32(a.N)},
	})
	if err != nil {
		return err
	}
	err = q.p.Scan(s, primitives.ScanArgs{
		In: plan.sizes, Out: a.Offsets, Length: primitives.Length{N: a.N}, Total: a.Offsets + uint64(4*a.N),
		Scratch: plan.scan,
	})
	if err != nil {
		return err
	}
	k.Dispatch(s, q.spread(), copyPush{
		st, plan.slices, a.Offsets, a.Total, a.OutKeys, a.OutValues, uint32(a.N), uint32(a.Candidates),
		uint32(a.Capacity),
	})
	return nil
}
