package ordered

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/runs"
	"github.com/vkds/vkds/vk"
)

// need says that a buffer of a batch is too short.
func need[T vk.Element](b *vk.Buffer[T], name string, count, want int) error {
	if n := length(b); n < want {
		return &structures.LengthError{Keys: count, Other: name, Got: n}
	}
	return nil
}

func length[T vk.Element](b *vk.Buffer[T]) int {
	if b == nil {
		return 0
	}
	return b.Len()
}

func address[T vk.Element](b *vk.Buffer[T]) uint64 {
	if b == nil {
		return 0
	}
	return b.Address()
}

func first(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// bytes is n rounded up to whole words.
func bytes(n int) int { return (n + 3) &^ 3 }

// UpdateOn records a batch of insertions or deletions.
func (c *Core) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, u structures.DeviceUpdates) error {
	if u.Count == 0 {
		return c.Usable()
	}
	if u.Count < 0 || u.First < 0 {
		return &structures.LengthError{Keys: u.Count, Other: "operations before the first", Got: u.First}
	}
	err := first(c.Usable(), need(u.Keys, "keys", u.Count, u.First+u.Count))
	if err == nil && kind == structures.Insert {
		err = need(u.Values, "values", u.Count, u.First+u.Count)
	}
	if err == nil && u.Status != nil {
		err = need(u.Status, "status bytes", u.Count, bytes(u.Count))
	}
	if err != nil {
		return err
	}
	b := Batch{Kind: kind, Keys: u.Keys.AddressOf(u.First), N: u.Count}
	if kind == structures.Insert {
		b.Values = u.Values.AddressOf(u.First)
	}
	return c.record(ctx, s, b, address(u.Status))
}

// FindOn records lookups.
func (c *Core) FindOn(s *vk.Stream, l structures.DeviceLookups) error {
	err := first(c.Usable(), need(l.Keys, "keys", l.Count, l.Count), need(l.Values, "values", l.Count, l.Count),
		need(l.Found, "found bytes", l.Count, bytes(l.Count)))
	if err != nil {
		return err
	}
	st := c.of.Stack()
	sorted := l.Order == structures.SortedFirst || l.Order == structures.AutoOrder && runs.Sorted(l.Count, st)
	return c.find(s, st, runs.FindArgs{Keys: address(l.Keys), Values: address(l.Values), Found: address(l.Found), N: l.Count}, sorted)
}

// CountOn records the counting of ranges.
func (c *Core) CountOn(s *vk.Stream, r structures.DeviceCounts) error {
	err := first(c.Usable(), need(r.Ranges, "words of ranges", 2*r.Count, 2*r.Count), need(r.Counts, "counts", r.Count, r.Count))
	if err != nil {
		return err
	}
	st := c.of.Stack()
	scratch, err := c.Scratch(s, c.Queries.CountScratch(st, r.Count))
	if err != nil {
		return err
	}
	return c.Queries.Count(s, st, runs.CountArgs{
		Ranges: address(r.Ranges), Out: address(r.Counts), N: r.Count, Unique: c.of.Unique(), Total: address(r.Candidates), Scratch: scratch,
	})
}

// RangeOn records the writing of the pairs of ranges.
func (c *Core) RangeOn(s *vk.Stream, r structures.DeviceRanges) error {
	err := first(c.Usable(), need(r.Ranges, "words of ranges", 2*r.Count, 2*r.Count),
		need(r.Offsets, "offsets", r.Count, r.Count+1), need(r.Candidates, "words for the candidates", 1, 1))
	if err != nil {
		return err
	}
	st := c.of.Stack()
	room := min(length(r.Keys), length(r.Values))
	if r.MaxCandidates == 0 {
		r.MaxCandidates = room
	}
	scratch, err := c.Scratch(s, c.Queries.RangeScratch(st, r.Count, r.MaxCandidates))
	if err != nil {
		return err
	}
	return c.Queries.Range(s, st, runs.RangeArgs{
		Ranges: address(r.Ranges), N: r.Count, Unique: c.of.Unique(), Offsets: address(r.Offsets), OutKeys: address(r.Keys), OutValues: address(r.Values),
		Capacity: room, Candidates: r.MaxCandidates, Total: address(r.Candidates), Scratch: scratch,
	})
}

// NeighborOn records the search for neighbors.
func (c *Core) NeighborOn(s *vk.Stream, to structures.Direction, n structures.DeviceNeighbors) error {
	err := first(c.Usable(), need(n.Keys, "keys", n.Count, n.Count), need(n.OutKeys, "keys for the result", n.Count, n.Count),
		need(n.OutValues, "values", n.Count, n.Count), need(n.Status, "status bytes", n.Count, bytes(n.Count)),
		need(n.Left, "words for the number left", 1, 1))
	if err != nil {
		return err
	}
	return c.Queries.Neighbor(s, c.of.Stack(), kinds[to], runs.NeighborArgs{
		Keys: address(n.Keys), OutKeys: address(n.OutKeys), OutValues: address(n.OutValues), Status: address(n.Status), N: n.Count,
		Left: address(n.Left), Resume: n.Resume,
	})
}
