package ordered

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/internal/runs"
	"github.com/vkds/vkds/vk"
)

// UpdateOn records a batch of insertions or deletions, by who has entered.
func (c *Core) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, u structures.DeviceUpdates) error {
	err := cmp.Or(c.Device.Accept("stream", s), recording.NeedUpdates(c.Device, kind, u))
	if err != nil || u.Count == 0 {
		return err
	}
	b := Batch{Kind: kind, Keys: u.Keys.AddressOf(u.First), N: u.Count}
	if kind == structures.Insert {
		b.Values = u.Values.AddressOf(u.First)
	}
	return c.on(s, true, func() error { return c.record(ctx, s, b, u.Status.Address()) })
}

// FindOn records lookups.
func (c *Core) FindOn(s *vk.Stream, l structures.DeviceLookups) error {
	if err := c.EnterOn(context.Background()); err != nil {
		return err
	}
	defer c.Leave()
	err := cmp.Or(c.Device.Accept("stream", s), recording.Need(c.Device, l.Keys, "keys", l.Count, l.Count), recording.Need(c.Device, l.Values, "values", l.Count, l.Count),
		recording.Need(c.Device, l.Found, "found bytes", l.Count, recording.Padded(l.Count)))
	if err != nil {
		return err
	}
	return c.on(s, false, func() error {
		st := c.of.Stack()
		sorted := l.Order == structures.SortedFirst || l.Order == structures.AutoOrder && runs.Sorted(l.Count, st)
		return c.find(s, st, runs.FindArgs{Keys: l.Keys.Address(), Values: l.Values.Address(), Found: l.Found.Address(), N: l.Count}, sorted)
	})
}

// CountOn records the counting of ranges.
func (c *Core) CountOn(s *vk.Stream, r structures.DeviceCounts) error {
	if err := c.EnterOn(context.Background()); err != nil {
		return err
	}
	defer c.Leave()
	err := cmp.Or(c.Device.Accept("stream", s), recording.Need(c.Device, r.Ranges, "words of ranges", r.Count, 2*r.Count),
		recording.Need(c.Device, r.Counts, "counts", r.Count, r.Count), recording.Need(c.Device, r.Candidates, "words for the candidates", 0, 0))
	if err != nil {
		return err
	}
	return c.on(s, false, func() error {
		st := c.of.Stack()
		scratch, err := c.Scratch(s, c.Queries.CountScratch(st, r.Count))
		if err != nil {
			return err
		}
		return c.Queries.Count(s, st, runs.CountArgs{
			Ranges: r.Ranges.Address(), Out: r.Counts.Address(), N: r.Count, Unique: c.of.Unique(), Total: r.Candidates.Address(), Scratch: scratch,
		})
	})
}

// RangeOn records the writing of the pairs of ranges.
func (c *Core) RangeOn(s *vk.Stream, r structures.DeviceRanges) error {
	if err := c.EnterOn(context.Background()); err != nil {
		return err
	}
	defer c.Leave()
	err := cmp.Or(c.Device.Accept("stream", s), recording.Need(c.Device, r.Ranges, "words of ranges", r.Count, 2*r.Count),
		recording.Need(c.Device, r.Offsets, "offsets", r.Count, r.Count+1), recording.Need(c.Device, r.Candidates, "words for the candidates", 1, 1),
		recording.Need(c.Device, r.Keys, "keys for the result", 0, 0), recording.Need(c.Device, r.Values, "values", 0, 0))
	if err != nil {
		return err
	}
	room := min(r.Keys.Len(), r.Values.Len())
	if r.MaxCandidates == 0 {
		r.MaxCandidates = room
	}
	return c.on(s, false, func() error {
		st := c.of.Stack()
		scratch, err := c.Scratch(s, c.Queries.RangeScratch(st, r.Count, r.MaxCandidates))
		if err != nil {
			return err
		}
		return c.Queries.Range(s, st, runs.RangeArgs{
			Ranges: r.Ranges.Address(), N: r.Count, Unique: c.of.Unique(), Offsets: r.Offsets.Address(), OutKeys: r.Keys.Address(), OutValues: r.Values.Address(),
			Capacity: room, Candidates: r.MaxCandidates, Total: r.Candidates.Address(), Scratch: scratch,
		})
	})
}

// NeighborOn records the search for neighbors.
func (c *Core) NeighborOn(s *vk.Stream, to structures.Direction, n structures.DeviceNeighbors) error {
	if err := c.EnterOn(context.Background()); err != nil {
		return err
	}
	defer c.Leave()
	err := cmp.Or(c.Device.Accept("stream", s), recording.Need(c.Device, n.Keys, "keys", n.Count, n.Count), recording.Need(c.Device, n.OutKeys, "keys for the result", n.Count, n.Count),
		recording.Need(c.Device, n.OutValues, "values", n.Count, n.Count), recording.Need(c.Device, n.Status, "status bytes", n.Count, recording.Padded(n.Count)),
		recording.Need(c.Device, n.Left, "words for the number left", 1, 1))
	if err != nil {
		return err
	}
	return c.on(s, false, func() error {
		return c.Queries.Neighbor(s, c.of.Stack(), kinds[to], runs.NeighborArgs{
			Keys: n.Keys.Address(), OutKeys: n.OutKeys.Address(), OutValues: n.OutValues.Address(), Status: n.Status.Address(), N: n.Count,
			Left: n.Left.Address(), Resume: n.Resume,
		})
	})
}
