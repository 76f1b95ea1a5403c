package btree

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"unsafe"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Count returns how many keys each range has. Errors: those of Find, and *structures.StuckError where the tree's links
// lead in circles, which only a stray write can cause.
func (t *Tree) Count(ctx context.Context, ranges []structures.Range) ([]uint32, error) {
	if err := t.gate.Enter(ctx); err != nil {
		return nil, err
	}
	defer t.gate.Leave()
	p, err := t.cut(ctx, ranges, t.pairsAtOnce())
	if err != nil {
		return nil, err
	}
	counts := make([]uint32, len(ranges))
	for i, n := range p.counts {
		counts[p.owner[i]] += n
	}
	return counts, nil
}

// Range returns the pairs of each range, in key order. Errors: those of Count.
func (t *Tree) Range(ctx context.Context, ranges []structures.Range) (structures.Ranges, error) {
	if err := t.gate.Enter(ctx); err != nil {
		return structures.Ranges{}, err
	}
	defer t.gate.Leave()
	p, err := t.cut(ctx, ranges, t.pairsAtOnce())
	if err != nil {
		return structures.Ranges{}, err
	}
	out := structures.Ranges{Offsets: make([]uint64, len(ranges)+1)}
	for i, n := range p.counts {
		out.Offsets[p.owner[i]+1] += uint64(n)
	}
	for i := range ranges {
		out.Offsets[i+1] += out.Offsets[i]
	}
	all := out.Offsets[len(ranges)]
	out.Keys, out.Values = make([]uint32, all), make([]uint32, all)
	at := 0
	for _, g := range p.groups(t.pairsAtOnce()) {
		if err := t.pairs(ctx, p.part(g), out.Keys[at:at+g.pairs], out.Values[at:at+g.pairs]); err != nil {
			return structures.Ranges{}, err
		}
		at += g.pairs
	}
	return out, nil
}

// CountOn records the counting of the keys of ranges on a stream and does not wait. The tree must not change until it is
// done. Candidates are the pairs themselves; if they are asked for, then a range with so many neighbouring leaves that a
// dispatch would take too long is not counted, and they are said to be 2^63 and more. Errors as FindOn's.
func (t *Tree) CountOn(s *vk.Stream, r structures.DeviceCounts) error {
	if err := t.gate.Enter(context.Background()); err != nil {
		return err
	}
	defer t.gate.Leave()
	err := cmp.Or(t.d.Accept("stream", s), recording.Need(t.d, r.Ranges, "words of ranges", r.Count, 2*r.Count),
		recording.Need(t.d, r.Counts, "counts", r.Count, r.Count), recording.Need(t.d, r.Candidates, "words for the candidates", r.Count, 0))
	if err != nil || r.Count == 0 {
		return err
	}
	return t.on(s, func() error { return t.recordCountOn(s, r) })
}

func (t *Tree) recordCountOn(s *vk.Stream, r structures.DeviceCounts) error {
	plan, err := t.scratchForRanges(s, r.Count)
	if err != nil {
		return err
	}
	q := rangeQueries{ranges: r.Ranges.Address(), n: r.Count, shift: plan.shift, counts: plan.counts, total: plan.total}
	summed := r.Candidates.Len() != 0 || plan.shift != 0
	if r.Candidates.Len() != 0 {
		q.total = r.Candidates.Address()
	} else {
		q.leaves = math.MaxInt32 // there is no other way to say that something is missing
	}
	if !summed {
		q.counts = r.Counts.Address()
	}
	if err := t.recordCounts(s, q, plan); err != nil || !summed {
		return err
	}
	return t.recordOffsets(s, q, plan, 0, r.Counts.Address())
}

// RangeOn records the writing of the pairs of ranges on a stream and does not wait. The tree must not change until it is
// done. Candidates are the pairs themselves; where one range has so many neighbouring leaves that a dispatch would take
// too long, they are said to be 2^63 and more, and nothing is done: Range cuts such ranges up. Errors as FindOn's.
func (t *Tree) RangeOn(s *vk.Stream, r structures.DeviceRanges) error {
	if err := t.gate.Enter(context.Background()); err != nil {
		return err
	}
	defer t.gate.Leave()
	err := cmp.Or(t.d.Accept("stream", s), recording.Need(t.d, r.Ranges, "words of ranges", r.Count, 2*r.Count),
		recording.Need(t.d, r.Offsets, "offsets", r.Count, r.Count+1), recording.Need(t.d, r.Candidates, "words for the candidates", r.Count, 1),
		recording.Need(t.d, r.Keys, "keys for the result", r.Count, 0), recording.Need(t.d, r.Values, "values", r.Count, 0))
	if err != nil {
		return err
	}
	return t.on(s, func() error { return t.recordRangeOn(s, r) })
}

func (t *Tree) recordRangeOn(s *vk.Stream, r structures.DeviceRanges) error {
	room := min(r.Keys.Len(), r.Values.Len(), recording.MaxPlaces)
	limit := max(0, min(r.MaxCandidates, recording.MaxPlaces))
	if limit == 0 {
		limit = room
	}
	plan, err := t.scratchForRanges(s, r.Count)
	if err != nil {
		return err
	}
	q := rangeQueries{
		ranges: r.Ranges.Address(), n: r.Count, shift: plan.shift, counts: plan.counts, total: r.Candidates.Address(),
		outKeys: r.Keys.Address(), outValues: r.Values.Address(), limit: limit, capacity: room,
	}
	if err := t.recordCounts(s, q, plan); err != nil {
		return err
	}
	if err := t.recordOffsets(s, q, plan, r.Offsets.Address(), 0); err != nil {
		return err
	}
	if plan.ordered() { // pairs are written range by range
		err := t.recordFetch(s, r.Count, fetch{places: plan.order.places, words: plan.order.each, toWords: plan.leaves})
		if err != nil {
			return err
		}
	}
	q.offsets = plan.offsets
	return t.recordPairs(s, q, plan)
}

// DeviceWindow are a batch of ranges in device buffers of which up to so many pairs each are asked for. That takes half
// the time of structures.DeviceRanges, since nobody has to know beforehand how many there are.
type DeviceWindow struct {
	Count  int                // ranges
	Ranges *vk.Buffer[uint32] // two words each: Lo and Hi
	Width  int                // pairs that are asked for of each range; Count times as many are less than 2^32
	// Keys and Values, out: range i has the first pairs in key order, from i*Width on. What is behind them, up to the next
	// range's, is undefined.
	Keys, Values *vk.Buffer[uint32]
	Counts       *vk.Buffer[uint32] // out: how many these are
}

func (w DeviceWindow) check(d *vk.Device) error {
	places, err := recording.Windows(w.Count, w.Width)
	return cmp.Or(err, recording.Need(d, w.Ranges, "words of ranges", w.Count, 2*w.Count), recording.Need(d, w.Counts, "counts", w.Count, w.Count),
		recording.Need(d, w.Keys, "keys for the result", w.Count, places), recording.Need(d, w.Values, "values", w.Count, places))
}

// RangesOf records the writing of the first pairs of ranges on a stream and does not wait. The tree must not change
// until it is done. Where it measured faster, this, CountOn and RangeOn bring the ranges into the order of their first
// keys, as FindOn does by AutoOrder. Errors as FindOn's.
func (t *Tree) RangesOf(s *vk.Stream, w DeviceWindow) error {
	if err := t.gate.Enter(context.Background()); err != nil {
		return err
	}
	defer t.gate.Leave()
	if err := cmp.Or(t.d.Accept("stream", s), w.check(t.d)); err != nil {
		return err
	}
	if w.Count == 0 {
		return nil
	}
	return t.on(s, func() error {
		plan, err := t.scratchForSeeks(s, w.Count, t.windowsInOrder(w.Count, w.Width))
		if err != nil {
			return err
		}
		return t.recordWindow(s, rangeQueries{
			ranges: w.Ranges.Address(), n: w.Count, counts: w.Counts.Address(), outKeys: w.Keys.Address(),
			outValues: w.Values.Address(),
			width:     w.Width,
		}, plan)
	})
}

// rangeQueries are ranges on the device: addresses.
type rangeQueries struct {
	ranges  uint64 // two words a range
	n       int    // ranges
	shift   int    // log2 of the parts that each is cut into
	counts  uint64 // a word a part
	offsets uint64 // a word a part
	total   uint64 // two words, or none

	outKeys, outValues     uint64
	limit, capacity, width int

	leaves  int    // a part of more is too long; 0: of more than ever should be
	tooLong uint32 // what its count is then
}

// leavesAtOnce is how many leaves one tile walks over in a dispatch on behalf of one part of a range.
const leavesAtOnce = 1 << 16

// rangePlan is how the scratch of ranges is divided.
type rangePlan struct {
	shift   int
	topBits int
	top     uint64
	leaves  uint64 // a word a part: where it begins
	counts  uint64 // a word a part
	offsets uint64 // a word a part, and one more
	total   uint64 // two words
	scan    uint64
	order   rangeOrder // none: they are done as they come
	bytes   int
}

// ordered says whether ranges are brought into the order of their first keys.
func (p rangePlan) ordered() bool { return p.order != rangeOrder{} }

// rangeOrder is the scratch for ranges that are brought into order: addresses.
type rangeOrder struct {
	ranges    uint64 // two words a range, in order
	places    uint64 // of each range, in order
	each      uint64 // of each range in order: its number, for windows; else the leaf where it begins
	counts    uint64 // the pairs of each range in order
	partition uint64
}

// seekPlan is that of ranges that are neither cut up nor summed up.
func (t *Tree) seekPlan(n int, ordered bool, scratch uint64) rangePlan {
	p := recording.Parts{Base: scratch}
	r := rangePlan{topBits: t.topBits(n)}
	if ordered {
		r.topBits = t.orderedTopBits(n)
		r.order = rangeOrder{
			ranges: p.Take(8 * n), places: p.Take(4 * n), each: p.Take(4 * n), counts: p.Take(4 * n),
			partition: p.Take(t.primitives.PartitionScratch(t.queries.partBits)),
		}
	}
	r.top, r.leaves = p.Take(topBytes(r.topBits)), p.Take(4*n)
	r.bytes = int(p.Used)
	return r
}

func (t *Tree) rangePlan(n int, scratch uint64) rangePlan {
	shift := 0
	if few := t.queries.partsOfFew; n < 1<<few {
		shift = few - bits.Len(uint(max(n, 1)-1))
	}
	parts := n << shift
	r := t.seekPlan(parts, shift == 0 && t.rangesInOrder(n), scratch)
	r.shift = shift
	p := recording.Parts{Base: scratch, Used: uint64(r.bytes)}
	r.counts, r.offsets, r.total = p.Take(4*parts), p.Take(4*(parts+1)), p.Take(8)
	r.scan = p.Take(t.primitives.ScanScratch(parts))
	r.bytes = int(p.Used)
	return r
}

func (t *Tree) scratchForSeeks(s *vk.Stream, n int, ordered bool) (rangePlan, error) {
	at, err := t.scratch.Take(s, t.seekPlan(n, ordered, 0).bytes)
	return t.seekPlan(n, ordered, at), err
}

func (t *Tree) scratchForRanges(s *vk.Stream, n int) (rangePlan, error) {
	at, err := t.scratch.Take(s, t.rangePlan(n, 0).bytes)
	return t.rangePlan(n, at), err
}

type seekPush struct {
	Tree                   Device
	Top                    top
	Ranges, Leaves, Zeroed uint64
	Count, Shift           uint32
}

type countPush struct {
	Tree                              Device
	Ranges, Leaves, Counts, Total     uint64
	Count, Shift, LeavesMost, TooLong uint32
}

type writePush struct {
	Tree                                               Device
	Ranges, Leaves, Offsets, Total, OutKeys, OutValues uint64
	Count, Shift, Limit, Capacity                      uint32
}

type windowPush struct {
	Tree                       Device
	Ranges                     uint64
	Top                        top
	Counts, OutKeys, OutValues uint64
	Count, Width               uint32
	Numbers                    uint64
}

type rangeOffsetsPush struct {
	Before, Offsets, Counts, Total uint64
	Count, Shift                   uint32
}

// recordSeeks records the search for the leaves where ranges begin. zeroed: two words that become 0, or none.
func (t *Tree) recordSeeks(s *vk.Stream, q rangeQueries, plan rangePlan, zeroed uint64) error {
	top, err := t.recordTop(s, plan.top, plan.topBits)
	if err != nil {
		return err
	}
	k, err := kernel[seekPush](t, s, "seek", t.queries.seek)
	if err != nil {
		return err
	}
	parts := q.n << q.shift
	k.Dispatch(s, max(1, groups(parts)), seekPush{
		t.device(), top, q.ranges, plan.leaves, zeroed, uint32(parts), uint32(q.shift),
	})
	return nil
}

// recordRangeOrder records that ranges are brought into order, if the plan says so, and returns them and the plan as they
// are from there on, until recordOwnOrder. numbers: a word a range, out, or 0.
func (t *Tree) recordRangeOrder(s *vk.Stream, q rangeQueries, plan rangePlan, numbers uint64) (rangeQueries, rangePlan, error) {
	if !plan.ordered() {
		return q, plan, nil
	}
	o := plan.order
	err := t.primitives.Partition(s, primitives.PartitionArgs{
		Keys: q.ranges, Pairs: true, OutKeys: o.ranges, Places: o.places, Numbers: numbers,
		Length: primitives.Length{N: q.n}, Bits: t.queries.partBits, Scratch: o.partition,
	})
	q.ranges, q.counts, plan.leaves = o.ranges, o.counts, o.each
	return q, plan, err
}

// recordOwnOrder records the fetching of the counts of ranges, if they were brought into order.
func (t *Tree) recordOwnOrder(s *vk.Stream, n int, counts uint64, plan rangePlan) error {
	if !plan.ordered() {
		return nil
	}
	return t.recordFetch(s, n, fetch{places: plan.order.places, words: plan.order.counts, toWords: counts})
}

// recordCounts records the counting of the pairs of ranges, part by part.
func (t *Tree) recordCounts(s *vk.Stream, q rangeQueries, plan rangePlan) error {
	k, err := kernel[countPush](t, s, "range_count", t.queries.walk)
	if err != nil {
		return err
	}
	counts := q.counts
	if q, plan, err = t.recordRangeOrder(s, q, plan, 0); err != nil {
		return err
	}
	if err := t.recordSeeks(s, q, plan, q.total); err != nil {
		return err
	}
	if q.leaves == 0 {
		q.leaves = leavesAtOnce
	}
	parts := q.n << q.shift
	k.Dispatch(s, groups(parts), countPush{
		t.device(), q.ranges, plan.leaves, q.counts, q.total, uint32(parts), uint32(q.shift), uint32(q.leaves), q.tooLong,
	})
	return t.recordOwnOrder(s, parts, counts, plan)
}

// recordOffsets records the summing up of what recordCounts counted: the offsets of the parts into the plan's, those of
// the ranges, and their counts, where they are wanted, and the total.
func (t *Tree) recordOffsets(s *vk.Stream, q rangeQueries, plan rangePlan, offsets, counts uint64) error {
	k, err := recording.Kernel[rangeOffsetsPush](t.kernels, s, "btree/range_offsets", workgroup)
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
	k.Dispatch(s, groups(parts+1), rangeOffsetsPush{plan.offsets, offsets, counts, q.total, uint32(parts), uint32(q.shift)})
	return nil
}

// recordPairs records the writing of the pairs of ranges whose leaves recordSeeks has found, at their offsets.
func (t *Tree) recordPairs(s *vk.Stream, q rangeQueries, plan rangePlan) error {
	k, err := kernel[writePush](t, s, "range_write", t.queries.walk)
	if err != nil {
		return err
	}
	parts := q.n << q.shift
	k.Dispatch(s, groups(parts), writePush{
		t.device(), q.ranges, plan.leaves, q.offsets, q.total, q.outKeys, q.outValues,
		uint32(parts), uint32(q.shift), uint32(q.limit), uint32(q.capacity),
	})
	return nil
}

// recordWindow records the writing of the first pairs of ranges.
func (t *Tree) recordWindow(s *vk.Stream, q rangeQueries, plan rangePlan) error {
	if q.n == 0 {
		return nil
	}
	top, err := t.recordTop(s, plan.top, plan.topBits)
	if err != nil {
		return err
	}
	k, err := kernel[windowPush](t, s, "range_window", t.queries.walk, recording.Constant("NUMBERED", word(plan.ordered())))
	if err != nil {
		return err
	}
	counts := q.counts
	if q, plan, err = t.recordRangeOrder(s, q, plan, plan.order.each); err != nil {
		return err
	}
	k.Dispatch(s, groups(q.n), windowPush{
		t.device(), q.ranges, top, q.counts, q.outKeys, q.outValues, uint32(q.n), uint32(q.width), plan.order.each,
	})
	return t.recordOwnOrder(s, q.n, counts, plan)
}

// words are ranges as the device takes them.
func words(ranges []structures.Range) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(ranges))), 2*len(ranges))
}

// pairsAtOnce is how many pairs one dispatch is to look at, so that it doesn't take long and its memory is small.
func (t *Tree) pairsAtOnce() int {
	if t.d.Info().Type == vk.CPU {
		return 1 << 16
	}
	return 1 << 22
}

// leavesOfPiece is how many leaves a tile walks over on behalf of a range from Go slices.
const leavesOfPiece = 128

// pieces are ranges that were cut up: piece i is a part of the range owner[i], in the order of the ranges and of keys.
type pieces struct {
	ranges []structures.Range
	owner  []int
	counts []uint32 // pairs in each
}

// cut counts ranges, and cuts those up that have too many leaves for one tile, or too many pairs for one dispatch. Parts
// that have too many leaves don't overlap: more of a range than the tree has leaves for are in a circle of links, and
// cutting them up would not end. Error then: *structures.StuckError.
func (t *Tree) cut(ctx context.Context, ranges []structures.Range, limit int) (pieces, error) {
	const parts, tooLong = 16, ^uint32(0)
	var p, fresh pieces // all, and what of them is to be counted
	for i, r := range ranges {
		p.add(r, i, tooLong)
	}
	fresh = pieces{ranges: ranges, counts: make([]uint32, len(ranges))}
	leaves, most := leavesOfPiece, 1<<10+t.poolSlabs()/leavesOfPiece
	for {
		if err := t.count(ctx, fresh.ranges, fresh.counts, leaves, tooLong); err != nil {
			return pieces{}, err
		}
		var all, next pieces
		wide, counted := false, 0
		owner, long := -1, 0 // a range, and how many parts of it have too many leaves
		for i, r := range p.ranges {
			n := p.counts[i]
			if n == tooLong {
				n = fresh.counts[counted]
				counted++
			}
			if p.owner[i] != owner {
				owner, long = p.owner[i], 0
			}
			if n == tooLong {
				if long++; long > most {
					return pieces{}, &structures.StuckError{Operations: len(ranges)}
				}
			}
			switch {
			case n != tooLong && (int(n) <= limit || r.Lo >= r.Hi):
				all.add(r, p.owner[i], n)
				continue
			case r.Lo >= r.Hi: // a way along leaves that are in no parent yet
				all.add(r, p.owner[i], tooLong)
				next.add(r, p.owner[i], 0)
				continue
			}
			wide = true
			each := (uint64(r.Hi)-uint64(r.Lo))/parts + 1
			for lo := uint64(r.Lo); lo <= uint64(r.Hi); lo += each {
				part := structures.Range{Lo: uint32(lo), Hi: uint32(min(uint64(r.Hi), lo+each-1))}
				all.add(part, p.owner[i], tooLong)
				next.add(part, p.owner[i], 0)
			}
		}
		if len(next.ranges) == 0 {
			return all, nil
		}
		if !wide {
			leaves = math.MaxInt32
		}
		p, fresh = all, next
	}
}

// count counts the pairs of ranges. The count of those that have more leaves is tooLong.
func (t *Tree) count(ctx context.Context, ranges []structures.Range, counts []uint32, leaves int, tooLong uint32) error {
	return t.pipeline.Run(ctx, len(ranges), []pipeline.Column{pipeline.In(ranges), pipeline.Out(counts)}, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			plan, err := t.scratchForSeeks(s, c.Count, t.rangesInOrder(c.Count))
			if err != nil {
				return err
			}
			return t.recordCounts(s, rangeQueries{
				ranges: c.Columns[0], n: c.Count, counts: c.Columns[1], leaves: leaves, tooLong: tooLong,
			}, plan)
		},
	})
}

func (p *pieces) add(r structures.Range, owner int, count uint32) {
	p.ranges, p.owner, p.counts = append(p.ranges, r), append(p.owner, owner), append(p.counts, count)
}

// group is some pieces that one dispatch does.
type group struct{ first, end, pairs int }

// groups divides the pieces: one at least in each group, no more than so many pairs and pieces in any of several.
func (p *pieces) groups(limit int) (all []group) {
	g := group{}
	for i, n := range p.counts {
		if g.end != g.first && (g.pairs+int(n) > limit || g.end-g.first == limit) {
			all = append(all, g)
			g = group{first: i, end: i}
		}
		g.end, g.pairs = i+1, g.pairs+int(n)
	}
	if g.end != g.first {
		all = append(all, g)
	}
	return all
}

// part are the pieces of a group.
func (p *pieces) part(g group) pieces {
	return pieces{p.ranges[g.first:g.end], p.owner[g.first:g.end], p.counts[g.first:g.end]}
}

// pairs reads the pairs of pieces, as many as they count together.
func (t *Tree) pairs(ctx context.Context, p pieces, keys, values []uint32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(keys) == 0 {
		return nil
	}
	n := len(p.ranges)
	// What goes up: the total, the ranges, their offsets. What comes down: keys and values.
	up := make([]uint32, 2+2*n+n)
	up[0] = uint32(len(keys))
	copy(up[2:], words(p.ranges))
	offset := uint32(0)
	for i, count := range p.counts {
		up[2+2*n+i] = offset
		offset += count
	}
	measure := recording.Parts{}
	measure.Take(4 * len(up))
	measure.Take(4 * len(keys))
	measure.Take(4 * len(keys))
	from := int(measure.Used)
	var q rangeQueries
	err := recording.Run(t.stream, func() error {
		address, err := t.scratch.Take(t.stream, from+t.seekPlan(n, false, 0).bytes)
		if err != nil {
			return err
		}
		if err := t.scratch.Of(t.stream).Upload(ctx, 0, up); err != nil {
			return err
		}
		parts := recording.Parts{Base: address}
		parts.Take(4 * len(up))
		q = rangeQueries{
			total: address, ranges: address + 8, n: n, offsets: address + uint64(4*(2+2*n)),
			outKeys: parts.Take(4 * len(keys)), outValues: parts.Take(4 * len(keys)), limit: len(keys), capacity: len(keys),
		}
		plan := t.seekPlan(n, false, address+uint64(from))
		if err := t.recordSeeks(t.stream, q, plan, 0); err != nil {
			return err
		}
		return t.recordPairs(t.stream, q, plan)
	})
	if err != nil {
		return err
	}
	b := t.scratch.Of(t.stream)
	if err := b.Download(ctx, int(q.outKeys-q.total)/4, keys); err != nil {
		return err
	}
	return b.Download(ctx, int(q.outValues-q.total)/4, values)
}
