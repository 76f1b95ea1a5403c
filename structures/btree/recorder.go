package btree

import (
	"context"
	"math"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// recorder records the queries of a tree, on its present content or at a snapshot.
type recorder struct {
	*tree
	at *snapshot // nil: the present content
}

// newest returns the recorder of the present content.
func (t *tree) newest() recorder { return recorder{tree: t} }

func (r recorder) Err() error {
	if r.at.ended() {
		return &vk.ClosedError{What: "snapshot"}
	}
	return r.tree.Err()
}

func (r recorder) Enter(ctx context.Context) error {
	if err := r.EnterOn(ctx); err != nil {
		return err
	}
	return gate.Unless(r.Leave, func() error { return r.tree.Changes.Rest(ctx) })
}

func (r recorder) EnterOn(ctx context.Context) error {
	err := r.EnterShared(ctx)
	if err == nil && r.at.ended() {
		r.LeaveShared()
		err = &vk.ClosedError{What: "snapshot"}
	}
	return err
}
func (r recorder) Leave()      { r.LeaveShared() }
func (r recorder) Exact() bool { return true }

// Changes returns the changes that end iterations. A snapshot has none.
func (r recorder) Changes() *recording.Changes {
	if r.at != nil {
		return &r.at.changes
	}
	return &r.tree.Changes
}

func (r recorder) On(s *vk.Stream, record func() error) error {
	if r.at == nil {
		return r.Using(s, record)
	}
	return r.onSnapshot(s, record)
}

// past reports whether leaves may have changed since the snapshot.
func (r recorder) past() bool { return r.at != nil && r.versions.there() }

// description describes the tree, or the snapshot, for one dispatch.
func (r recorder) description(s *vk.Stream) Description {
	d := r.tree.description()
	if r.past() {
		d.State = vk.NewArguments(s, r.versions.arguments(r.at.time)).Address()
	}
	return d
}

// Limits returns limits that only a tree with links in a circle exceeds: if all leaves are empty, a search for a
// neighbor visits each once, and more often only those without parents; and a range has no more parts with many leaves
// than the tree has leaves for.
func (r recorder) Limits() ordered.Limits {
	const (
		often        = 16 // visits of a leaf
		sectionNodes = 1 << 12
		mostSections = 1 << 10
	)
	slabs := r.poolSlabs()
	return ordered.Limits{
		VisitsAtOnce: maxNeighborVisits, Visits: often * uint64(slabs), Parts: 1<<10 + slabs/leavesOfPart,
		Sections: int(min(r.known.about()/sectionNodes+1, mostSections)),
	}
}

// leavesOfPart is how many leaves a tile reads for a range from Go slices.
const leavesOfPart = 128

// Survey counts the pairs of ranges, except for ranges with more than leavesOfPart leaves.
func (r recorder) Survey(s *vk.Stream, v ordered.Survey) error {
	plan, err := r.scratchForSeeks(s, v.N, r.rangesInOrder(v.N))
	if err != nil {
		return err
	}
	leaves := leavesOfPart
	if v.Whole {
		leaves = math.MaxInt32
	}
	return r.recordCounts(s, rangeQueries{ranges: v.Ranges, n: v.N, counts: v.Out, leaves: leaves,
		tooLong: ordered.TooMany}, plan)
}

func (r recorder) Count(s *vk.Stream, c ordered.Counts) error {
	if c.N == 0 {
		return nil
	}
	plan, err := r.scratchForRanges(s, c.N, c.CountAt)
	if err != nil {
		return err
	}
	q := rangeQueries{ranges: c.Ranges, n: c.N, countAt: c.CountAt, shift: plan.shift, counts: plan.counts,
		total: plan.total}
	summed := c.Total != 0 || plan.shift != 0
	if c.Total != 0 {
		q.total = c.Total
	} else {
		q.leaves = math.MaxInt32 // because without a total, missing pairs could not be reported
	}
	if !summed {
		q.counts = c.Out
	}
	if err := r.recordCounts(s, q, plan); err != nil || !summed {
		return err
	}
	return r.recordOffsets(s, q, plan, 0, c.Out)
}

func (r recorder) Range(s *vk.Stream, o ordered.Ranges) error {
	plan, err := r.scratchForRanges(s, o.N, o.CountAt)
	if err != nil {
		return err
	}
	q := rangeQueries{
		ranges: o.Ranges, n: o.N, countAt: o.CountAt, shift: plan.shift, counts: plan.counts, total: o.Total,
		outKeys: o.OutKeys, outValues: o.OutValues,
		limit: min(o.Candidates, recording.MaxPlaces), capacity: min(o.Capacity, recording.MaxPlaces),
	}
	if err := r.recordCounts(s, q, plan); err != nil {
		return err
	}
	if err := r.recordOffsets(s, q, plan, o.Offsets, 0); err != nil {
		return err
	}
	if plan.ordered() { // recordPairs needs the leaves in the order of the batch
		err := r.recordFetch(s, primitives.Length{N: o.N},
			fetch{destinations: plan.order.destinations, words: plan.order.each, toWords: plan.leaves})
		if err != nil {
			return err
		}
	}
	q.offsets = plan.offsets
	return r.recordPairs(s, q, plan)
}

// Pairs uploads the ranges, their offsets and the total to scratch memory, and downloads the pairs, which are written
// after them.
func (r recorder) Pairs(ctx context.Context, s *vk.Stream, ranges []structures.Range[uint64], counts []uint32,
	to ordered.Sink) ([]uint32, error) {
	n := len(ranges)
	offsets := 2 * r.words() * n // after the ranges, which are aligned to two keys, because kernels read both at once
	totalAt := offsets + n + n%2
	up := make([]uint32, totalAt+2)
	column := pipeline.Ranges(ranges, r.width)
	column.Encode(pipeline.Bytes(up))
	total := uint32(0)
	for i, count := range counts {
		up[offsets+i] = total
		total += count
	}
	if total == 0 {
		return counts, nil
	}
	up[totalAt] = total
	all := int(total)
	layout := func(base uint64) (outKeys, outValues, seeks uint64) {
		p := recording.Parts{Base: base}
		p.Take(4 * len(up))
		return p.Take(4 * r.words() * all), p.Take(4 * r.words() * all), p.Take(0)
	}
	keysAt, valuesAt, from := layout(0)
	err := recording.Run(s, func() error {
		address, err := r.scratch.Take(s, int(from)+r.seekPlan(n, false, 0).bytes)
		if err != nil {
			return err
		}
		if err := r.scratch.Of(s).Upload(ctx, 0, up); err != nil {
			return err
		}
		outKeys, outValues, seeks := layout(address)
		q := rangeQueries{
			ranges: address, n: n, offsets: address + uint64(4*offsets), total: address + uint64(4*totalAt),
			outKeys: outKeys, outValues: outValues, limit: all, capacity: all,
		}
		plan := r.seekPlan(n, false, seeks)
		if err := r.recordSeeks(s, q, plan, 0); err != nil {
			return err
		}
		return r.recordPairs(s, q, plan)
	})
	if err != nil {
		return nil, err
	}
	b := r.scratch.Of(s)
	keys, values := to.Extend(all)
	if err := keys.Download(ctx, b, int(keysAt)/4); err != nil {
		return nil, err
	}
	return counts, values.Download(ctx, b, int(valuesAt)/4)
}
