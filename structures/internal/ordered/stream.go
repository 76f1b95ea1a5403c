package ordered

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// on has queries recorded, if nothing is wrong with them.
func (r *Reader) on(s *vk.Stream, check func() error, record func() error) error {
	if err := r.of.EnterOn(context.Background()); err != nil {
		return err
	}
	defer r.of.Leave()
	if err := cmp.Or(r.d.Accept("stream", s), check()); err != nil {
		return err
	}
	return r.of.On(s, record)
}

// FindOn records lookups.
func (r *Reader) FindOn(s *vk.Stream, l structures.DeviceLookups) error {
	return r.on(s, func() error {
		return cmp.Or(recording.Need(r.d, l.Keys, "keys", l.Count, l.Count), recording.Need(r.d, l.Values, "values", l.Count, l.Count),
			recording.Need(r.d, l.Found, "found bytes", l.Count, recording.Padded(l.Count)))
	}, func() error {
		return r.of.Find(s, Lookups{
			Keys: l.Keys.Address(), Values: l.Values.Address(), Found: l.Found.Address(), N: l.Count, Order: l.Order,
		})
	})
}

// CountOn records the counting of ranges.
func (r *Reader) CountOn(s *vk.Stream, c structures.DeviceCounts) error {
	return r.on(s, func() error {
		return cmp.Or(recording.Need(r.d, c.Ranges, "words of ranges", c.Count, 2*c.Count), recording.Need(r.d, c.Counts, "counts", c.Count, c.Count),
			recording.Need(r.d, c.Candidates, "words for the candidates", c.Count, 0))
	}, func() error {
		return r.of.Count(s, Counts{Ranges: c.Ranges.Address(), Out: c.Counts.Address(), Total: c.Candidates.Address(), N: c.Count})
	})
}

// RangeOn records the writing of the pairs of ranges.
func (r *Reader) RangeOn(s *vk.Stream, q structures.DeviceRanges) error {
	return r.on(s, func() error {
		return cmp.Or(recording.Need(r.d, q.Ranges, "words of ranges", q.Count, 2*q.Count), recording.Need(r.d, q.Offsets, "offsets", q.Count, q.Count+1),
			recording.Need(r.d, q.Candidates, "words for the candidates", q.Count, 1),
			recording.Need(r.d, q.Keys, "keys for the result", q.Count, 0), recording.Need(r.d, q.Values, "values", q.Count, 0))
	}, func() error {
		room := min(q.Keys.Len(), q.Values.Len())
		candidates := q.MaxCandidates
		if candidates <= 0 {
			candidates = room
		}
		return r.of.Range(s, Ranges{
			Ranges: q.Ranges.Address(), Offsets: q.Offsets.Address(), OutKeys: q.Keys.Address(), OutValues: q.Values.Address(),
			Total: q.Candidates.Address(), N: q.Count, Capacity: room, Candidates: candidates,
		})
	})
}

// NeighborOn records the search for neighbors.
func (r *Reader) NeighborOn(s *vk.Stream, to structures.Direction, n structures.DeviceNeighbors) error {
	return r.on(s, func() error { return r.needs(n) }, func() error { return r.of.Neighbors(s, to, of(n, 0)) })
}
