package btree

import (
	"cmp"
	"context"
	"math/bits"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// checkWindow returns an error if the first pairs of ranges can't be recorded.
func checkWindow(d *vk.Device, w structures.DeviceWindow, width structures.Width) error {
	places, err := recording.Windows(w.Count, w.Width)
	return cmp.Or(err, w.Made.Check(width),
		recording.NeedNumbers(d, w.Ranges, "ends of ranges", w.Count, 2*w.Count, width),
		recording.Need(d, w.Counts, "counts", w.Count, w.Count),
		recording.NeedNumbers(d, w.Keys, "keys for the result", w.Count, places, width),
		recording.NeedNumbers(d, w.Values, "values", w.Count, places, width),
		recording.NeedCount(d, w.DeviceCount, w.Count))
}

func (t *tree) WindowOn(s *vk.Stream, w structures.DeviceWindow) error {
	if err := t.EnterShared(context.Background()); err != nil {
		return err
	}
	defer t.LeaveShared()
	if err := cmp.Or(t.Device.Accept("stream", s), checkWindow(t.Device, w, t.width)); err != nil {
		return err
	}
	if w.Count == 0 {
		return nil
	}
	return t.Using(s, func() error {
		plan, err := t.scratchForSeeks(s, w.Count, t.windowsInOrder(w.Count, w.Width))
		if err != nil {
			return err
		}
		return t.newest().recordWindow(s, rangeQueries{
			ranges: w.Ranges.Address(), n: w.Count, countAt: w.DeviceCount.Address(), counts: w.Counts.Address(),
			outKeys: w.Keys.Address(), outValues: w.Values.Address(), width: w.Width,
		}, plan)
	})
}

// rangeQueries are queries of ranges on the device, by addresses.
type rangeQueries struct {
	ranges  uint64 // two words for each range
	n       int    // ranges
	countAt uint64 // 0, or the address of the number of ranges; later ranges count as empty
	shift   int    // log2 of the parts of each range
	counts  uint64 // a word for each part
	offsets uint64 // a word for each part
	total   uint64 // two words, or 0

	outKeys, outValues     uint64
	limit, capacity, width int

	leaves  int    // a part with more leaves is too long; 0: leavesAtOnce
	tooLong uint32 // the count of a part that is too long
}

func (q rangeQueries) number() recording.Length {
	return recording.Length{At: q.countAt, N: uint32(q.n)}
}

// leavesAtOnce is how many leaves one tile reads in a dispatch for one part of a range.
const leavesAtOnce = 1 << 16

// rangePlan is the division of the scratch memory of ranges.
type rangePlan struct {
	shift     int
	indexBits int
	index     uint64
	leaves    uint64 // a word for each part: the leaf where it begins
	counts    uint64 // a word for each part
	offsets   uint64 // a word for each part, and one more
	total     uint64 // two words
	scan      uint64
	order     rangeOrder // empty: ranges stay in the order of the batch
	bytes     int
}

// ordered reports whether ranges are partitioned first by their least keys.
func (p rangePlan) ordered() bool { return p.order != rangeOrder{} }

// rangeOrder is the scratch memory of ranges that are partitioned, by addresses.
type rangeOrder struct {
	ranges       uint64 // two words for each range, partitioned
	destinations uint64 // of each partitioned range
	each         uint64 // of each partitioned range: its index in the batch (windows), or its first leaf
	counts       uint64 // the number of pairs of each partitioned range
	partition    uint64
}

// seekPlan is the plan for ranges that are neither divided nor summed.
func (t *tree) seekPlan(n int, ordered bool, scratch uint64) rangePlan {
	p := recording.Parts{Base: scratch}
	r := rangePlan{indexBits: t.indexBits(n)}
	if ordered {
		r.indexBits = t.orderedIndexBits(n)
		r.order = rangeOrder{
			ranges: p.Take(2 * t.width.Bytes() * n), destinations: p.Take(4 * n), each: p.Take(4 * n),
			counts:    p.Take(4 * n),
			partition: p.Take(t.primitives.Scratch(primitives.PartitionArgs{Bits: t.queries.partBits})),
		}
	}
	r.index, r.leaves = p.Take(t.indexBytes(r.indexBits)), p.Take(4*n)
	r.bytes = int(p.Used)
	return r
}

func (t *tree) rangePlan(n int, ordered bool, scratch uint64) rangePlan {
	shift := 0
	if few := t.queries.partsOfFew; n < 1<<few {
		shift = few - bits.Len(uint(max(n, 1)-1))
	}
	parts := n << shift
	r := t.seekPlan(parts, shift == 0 && ordered, scratch)
	r.shift = shift
	p := recording.Parts{Base: scratch, Used: uint64(r.bytes)}
	r.counts, r.offsets, r.total = p.Take(4*parts), p.Take(4*(parts+1)), p.Take(8)
	r.scan = p.Take(t.primitives.Scratch(primitives.ScanArgs{Length: primitives.Length{N: parts}}))
	r.bytes = int(p.Used)
	return r
}

func (t *tree) scratchForSeeks(s *vk.Stream, n int, ordered bool) (rangePlan, error) {
	at, err := t.scratch.Take(s, t.seekPlan(n, ordered, 0).bytes)
	return t.seekPlan(n, ordered, at), err
}

// scratchForRanges divides scratch memory. If only the device knows the number of ranges, they are not partitioned.
func (t *tree) scratchForRanges(s *vk.Stream, n int, countAt uint64) (rangePlan, error) {
	ordered := countAt == 0 && t.rangesInOrder(n)
	at, err := t.scratch.Take(s, t.rangePlan(n, ordered, 0).bytes)
	return t.rangePlan(n, ordered, at), err
}

type seekPush struct {
	Tree                   Description
	Index                  prefixIndex
	Ranges, Leaves, Zeroed uint64
	Number                 recording.Length
	Shift                  uint32
}

type countPush struct {
	Tree                              Description
	Ranges, Leaves, Counts, Total     uint64
	Count, Shift, LeavesMost, TooLong uint32
}

type writePush struct {
	Tree                                               Description
	Ranges, Leaves, Offsets, Total, OutKeys, OutValues uint64
	Count, Shift, Limit, Capacity                      uint32
}

type windowPush struct {
	Tree                       Description
	Ranges                     uint64
	Index                      prefixIndex
	Counts, OutKeys, OutValues uint64
	Count                      recording.Length
	Width                      uint32
	Sources                    uint64
}

type rangeOffsetsPush struct {
	Before, Offsets, Counts, Total uint64
	Count, Shift                   uint32
}

// recordSeeks records the search for the leaves where ranges begin. zeroed is the address of two words that are set to
// 0, or 0.
func (t *tree) recordSeeks(s *vk.Stream, q rangeQueries, plan rangePlan, zeroed uint64) error {
	index, err := t.recordIndex(s, plan.index, plan.indexBits,
		askedFor{keys: q.ranges, ranges: true, number: q.number()})
	if err != nil {
		return err
	}
	k, err := t.seekKernel().Kernel(t.Kernels, s)
	if err != nil {
		return err
	}
	parts := q.n << q.shift
	k.Dispatch(s, max(1, groups(parts)), seekPush{
		t.description(), index, q.ranges, plan.leaves, zeroed, q.number(), uint32(q.shift),
	})
	return nil
}

// recordRangeOrder records the partitioning of ranges, if the plan says so. It returns the ranges and the plan to use
// until recordOwnOrder. sources, if not 0, receives a word for each range.
func (t *tree) recordRangeOrder(s *vk.Stream, q rangeQueries, plan rangePlan,
	sources uint64) (rangeQueries, rangePlan, error) {
	if !plan.ordered() {
		return q, plan, nil
	}
	o := plan.order
	err := t.primitives.Partition(s, primitives.PartitionArgs{
		Keys: q.ranges, Width: t.width, Pairs: true, OutKeys: o.ranges, Destinations: o.destinations, Sources: sources,
		Length: primitives.Length{N: q.n, At: q.countAt}, Bits: t.queries.partBits, Scratch: o.partition,
	})
	q.ranges, q.counts, plan.leaves = o.ranges, o.counts, o.each
	return q, plan, err
}

// recordOwnOrder records that the counts of partitioned ranges are put into the order of the batch.
func (t *tree) recordOwnOrder(s *vk.Stream, n primitives.Length, counts uint64, plan rangePlan) error {
	if !plan.ordered() {
		return nil
	}
	return t.recordFetch(s, n, fetch{destinations: plan.order.destinations, words: plan.order.counts, toWords: counts})
}

// recordCounts records the counting of the pairs of ranges, by parts.
func (r recorder) recordCounts(s *vk.Stream, q rangeQueries, plan rangePlan) error {
	k, err := r.countKernel(r.past()).Kernel(r.Kernels, s)
	if err != nil {
		return err
	}
	counts := q.counts
	if q, plan, err = r.recordRangeOrder(s, q, plan, 0); err != nil {
		return err
	}
	if err := r.recordSeeks(s, q, plan, q.total); err != nil {
		return err
	}
	if q.leaves == 0 {
		q.leaves = leavesAtOnce
	}
	parts := q.n << q.shift
	k.Dispatch(s, groups(parts), countPush{
		r.description(s), q.ranges, plan.leaves, q.counts, q.total, uint32(parts), uint32(q.shift), uint32(q.leaves),
		q.tooLong,
	})
	return r.recordOwnOrder(s, primitives.Length{N: parts}, counts, plan)
}

// recordOffsets records the sums of the counts of recordCounts: the offsets of the parts, in the plan, those of the
// ranges and their counts, if wanted, and the total.
func (t *tree) recordOffsets(s *vk.Stream, q rangeQueries, plan rangePlan, offsets, counts uint64) error {
	k, err := t.offsetsKernel().Kernel(t.Kernels, s)
	if err != nil {
		return err
	}
	parts := q.n << q.shift
	err = t.primitives.Scan(s, primitives.ScanArgs{
		In: q.counts, Out: plan.offsets, Length: primitives.Length{N: parts}, Total: plan.offsets + 4*uint64(parts),
		Scratch: plan.scan,
	})
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(parts+1), rangeOffsetsPush{plan.offsets, offsets, counts, q.total, uint32(parts),
		uint32(q.shift)})
	return nil
}

// recordPairs records the writing of the pairs of ranges at their offsets. recordSeeks has found their leaves.
func (r recorder) recordPairs(s *vk.Stream, q rangeQueries, plan rangePlan) error {
	k, err := r.writeKernel(r.past()).Kernel(r.Kernels, s)
	if err != nil {
		return err
	}
	parts := q.n << q.shift
	k.Dispatch(s, groups(parts), writePush{
		r.description(s), q.ranges, plan.leaves, q.offsets, q.total, q.outKeys, q.outValues,
		uint32(parts), uint32(q.shift), uint32(q.limit), uint32(q.capacity),
	})
	return nil
}

// recordWindow records the writing of the first pairs of ranges.
func (r recorder) recordWindow(s *vk.Stream, q rangeQueries, plan rangePlan) error {
	if q.n == 0 {
		return nil
	}
	index, err := r.recordIndex(s, plan.index, plan.indexBits,
		askedFor{keys: q.ranges, ranges: true, number: q.number()})
	if err != nil {
		return err
	}
	k, err := r.windowKernel(r.past(), plan.ordered()).Kernel(r.Kernels, s)
	if err != nil {
		return err
	}
	counts := q.counts
	if q, plan, err = r.recordRangeOrder(s, q, plan, plan.order.each); err != nil {
		return err
	}
	k.Dispatch(s, groups(q.n), windowPush{
		r.description(s), q.ranges, index, q.counts, q.outKeys, q.outValues, q.number(), uint32(q.width),
		plan.order.each,
	})
	return r.recordOwnOrder(s, primitives.Length{N: q.n, At: q.countAt}, counts, plan)
}

// windows are where the ordered queries of a batch write their pairs on the device: one window after the other, each
// with room for width pairs.
type windows struct {
	any     bool // there are ordered queries; counts need no window
	lists   bool // some of them list ranges
	width   int
	numbers []uint32 // for each operation, the number of its window, or of the next one
	all     uint32   // the number of windows
}

// windowsOf lays out the windows of a batch whose ranges list up to width pairs.
func windowsOf(kinds []structures.Kind, width int) windows {
	w := windows{width: 1}
	for _, k := range kinds {
		w.any = w.any || k.Ordered()
		w.lists = w.lists || k == structures.FindRange
	}
	if w.lists {
		w.width = width
	}
	if !w.any {
		return w
	}
	w.numbers = make([]uint32, len(kinds))
	for i, k := range kinds {
		w.numbers[i] = w.all
		if k.Ordered() && k != structures.CountRange {
			w.all++
		}
	}
	return w
}

func (w windows) count() int { return int(w.all) }

// number returns the number of the first window at or after an operation.
func (w windows) number(i int) uint32 {
	if i < len(w.numbers) {
		return w.numbers[i]
	}
	return w.all
}

// fit returns the end of the operations from first, at most end, whose windows have room for at most pairs pairs
// together. There is at least one operation.
func (w windows) fit(first, end, pairs int) int {
	most := uint64(w.number(first)) + uint64(max(1, pairs/w.width))
	for end > first+1 && uint64(w.number(end)) > most {
		end--
	}
	return end
}

// part returns the windows of some of the operations, numbered from 0.
func (w windows) part(first, end int) windows {
	if !w.any {
		return w
	}
	begin := w.number(first)
	p := w
	p.all, p.numbers = w.number(end)-begin, make([]uint32, end-first)
	for i := range p.numbers {
		p.numbers[i] = w.numbers[first+i] - begin
	}
	return p
}
