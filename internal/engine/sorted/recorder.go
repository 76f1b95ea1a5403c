package sorted

import (
	"context"

	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/runs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// recorder is the core as its Reader uses it.
type recorder struct{ *Core }

func (c recorder) Enter(ctx context.Context) error   { return c.EnterQuery(ctx) }
func (c recorder) EnterOn(ctx context.Context) error { return c.EnterShared(ctx) }
func (c recorder) Leave()                            { c.LeaveShared() }

func (c recorder) On(s *vk.Stream, record func() error) error { return c.on(s, false, record) }
func (c recorder) Changes() *recording.Changes                { return &c.Core.Changes }
func (c recorder) Exact() bool                                { return c.of.Unique() }

// maxNeighborVisits is the most keys that a search for a neighbor reads in one dispatch.
const maxNeighborVisits = 4096

// Limits: each step of a search passes a key, unless keys out of order lead back. Even then, a search with a greater
// key does not return a smaller result. So the parts of a range never have more candidates together than there are
// pairs.
func (c recorder) Limits() ordered.Limits {
	return ordered.Limits{VisitsAtOnce: maxNeighborVisits, Visits: c.of.Stack().Pairs(), Parts: 1 << 10, Sections: 1}
}

func (c recorder) Find(s *vk.Stream, l ordered.Lookups) error {
	st := c.of.Stack()
	a := runs.FindArgs{Keys: l.Keys, Values: l.Values, Found: l.Found, N: l.N, CountAt: l.CountAt}
	if l.Order != structures.SortedFirst && !(l.Order == structures.AutoOrder && runs.Sorted(l.N, st)) {
		return c.Queries.Find(s, st, a)
	}
	var err error
	if a.Scratch, err = c.Scratch(s, c.Queries.FindSortedScratch(a.N)); err != nil {
		return err
	}
	return c.Queries.FindSorted(s, st, a)
}

// kinds maps directions to the kinds of neighbors.
var kinds = map[structures.Direction]runs.Kind{
	structures.Successor: runs.Successor, structures.Predecessor: runs.Predecessor,
	structures.Floor: runs.Floor, structures.Ceil: runs.Ceil,
}

func (c recorder) Neighbors(s *vk.Stream, to structures.Direction, n ordered.Neighbors) error {
	return c.Queries.Neighbor(s, c.of.Stack(), kinds[to], runs.NeighborArgs{
		Keys: n.Keys, OutKeys: n.OutKeys, OutValues: n.OutValues, Status: n.Status, N: n.N, CountAt: n.CountAt,
		Left: n.Left, Resume: n.Resume, Visits: n.Visits,
	})
}

func (c recorder) Survey(s *vk.Stream, v ordered.Survey) error {
	return c.Queries.Survey(s, c.of.Stack(), v.Ranges, v.N, v.Out)
}

func (c recorder) Count(s *vk.Stream, q ordered.Counts) error {
	st := c.of.Stack()
	scratch, err := c.Scratch(s, c.Queries.CountScratch(st, q.N))
	if err != nil {
		return err
	}
	return c.Queries.Count(s, st, runs.CountArgs{
		Ranges: q.Ranges, Out: q.Out, N: q.N, CountAt: q.CountAt, Unique: c.of.Unique(), Total: q.Total,
		Scratch: scratch,
	})
}

func (c recorder) Range(s *vk.Stream, r ordered.Ranges) error {
	st := c.of.Stack()
	scratch, err := c.Scratch(s, c.Queries.RangeScratch(st, r.N, r.Candidates))
	if err != nil {
		return err
	}
	return c.Queries.Range(s, st, runs.RangeArgs{
		Ranges: r.Ranges, N: r.N, CountAt: r.CountAt, Unique: c.of.Unique(), Offsets: r.Offsets, OutKeys: r.OutKeys,
		OutValues: r.OutValues, Capacity: r.Capacity, Candidates: r.Candidates, Total: r.Total, Scratch: scratch,
	})
}

// Pairs lays out the ranges, their offsets, the number of candidates and then the pairs in scratch memory.
func (c recorder) Pairs(ctx context.Context, s *vk.Stream, ranges []structures.Range[uint64], candidates []uint32,
	to ordered.Sink) ([]uint32, error) {
	n, all := len(ranges), ordered.Sum(candidates)
	counts := make([]uint32, n)
	if all == 0 {
		return counts, nil
	}
	align := func(words int) int { return (words + 63) &^ 63 } // to 256 bytes
	words := c.Width().Bytes() / 4                             // of a key or a value
	total := align(2 * words * n)
	at := total + align(2)
	pairsAt := at + align(n+1)
	valuesAt := pairsAt + align(words*all)
	end := valuesAt + align(words*all)
	err := recording.Run(s, func() error {
		address, err := c.Scratch(s, 4*end+c.Queries.RangeScratch(c.of.Stack(), n, all))
		if err != nil {
			return err
		}
		b := c.scratch.Of(s)
		if err := pipeline.Ranges(ranges, c.Width()).Upload(ctx, b, 0); err != nil {
			return err
		}
		return c.Queries.Range(s, c.of.Stack(), runs.RangeArgs{
			Ranges: address, N: n, Unique: c.of.Unique(), Offsets: b.AddressOf(at), OutKeys: b.AddressOf(pairsAt),
			OutValues: b.AddressOf(valuesAt), Capacity: all, Candidates: all, Total: b.AddressOf(total),
			Scratch: b.AddressOf(end),
		})
	})
	if err != nil {
		return nil, err
	}
	b := c.scratch.Of(s)
	offsets := make([]uint32, n+1)
	if err := b.Download(ctx, at, offsets); err != nil {
		return nil, err
	}
	for i := range counts {
		counts[i] = offsets[i+1] - offsets[i]
	}
	keys, values := to.Extend(int(offsets[n]))
	if err := keys.Download(ctx, b, pairsAt); err != nil {
		return nil, err
	}
	return counts, values.Download(ctx, b, valuesAt)
}

func (c recorder) Rank(s *vk.Stream, r ordered.Ranks) error {
	st, unique := c.of.Stack(), c.of.Unique()
	scratch, err := c.Scratch(s, c.Queries.RankScratch(st, unique))
	if err != nil || r.N == 0 {
		return err
	}
	return c.Queries.Rank(s, st, runs.RankArgs{Keys: r.Keys, Ranks: r.Out, N: r.N, CountAt: r.CountAt, Unique: unique,
		Scratch: scratch})
}

func (c recorder) Select(s *vk.Stream, n ordered.Neighbors) error {
	st, unique := c.of.Stack(), c.of.Unique()
	scratch, err := c.Scratch(s, c.Queries.RankScratch(st, unique))
	if err != nil || n.N == 0 {
		return err
	}
	return c.Queries.Select(s, st, runs.SelectArgs{
		Ranks: n.Keys, OutKeys: n.OutKeys, OutValues: n.OutValues, Status: n.Status, N: n.N, CountAt: n.CountAt,
		Unique: unique, Scratch: scratch,
	})
}

// Export writes the range of all keys.
func (c recorder) Export(s *vk.Stream, e structures.DeviceExport) error {
	st := c.of.Stack()
	all := int(st.Pairs())
	const offsets, rest = 64, 128 // in words from the total on
	total, err := c.Scratch(s, 4*rest+c.Queries.RangeScratch(st, 1, all))
	if err != nil {
		return err
	}
	err = c.Queries.Range(s, st, runs.RangeArgs{
		Ranges: c.Rows.AddressOf(allKeysAt), N: 1, Unique: c.of.Unique(), Offsets: total + 4*offsets, Total: total,
		Scratch: total + 4*rest, OutKeys: e.Keys.Address(), OutValues: e.Values.Address(),
		Capacity: min(e.Keys.Len(), e.Values.Len()) * 4 / c.Width().Bytes(), Candidates: all,
	})
	if err == nil {
		s.Copy(e.Total, 0, c.scratch.Of(s), offsets+1, 1)
	}
	return err
}
