package ordered

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// OnStream has the queries of a Reader that are recorded on one stream.
type OnStream struct {
	Reader *Reader
	Stream *vk.Stream
}

var _ structures.QueriesOnStream = OnStream{}

// On returns the queries on a stream.
func (r *Reader) On(s *vk.Stream) OnStream { return OnStream{r, s} }

// on records the given number of queries, if check finds no error.
func (r *Reader) on(s *vk.Stream, queries int, check func() error, record func() error) error {
	if err := r.of.EnterOn(context.Background()); err != nil {
		return err
	}
	defer r.of.Leave()
	if err := cmp.Or(r.h.Device.Accept("stream", s), check()); err != nil {
		return err
	}
	r.h.Meter.Query(queries)
	return r.of.On(s, record)
}

// Find records lookups.
func (o OnStream) Find(l structures.DeviceLookups) error {
	r, s := o.Reader, o.Stream
	return r.on(s, l.Count, func() error {
		return cmp.Or(l.Made.Check(r.width),
			recording.NeedNumbers(r.h.Device, l.Keys, "keys", l.Count, l.Count, r.width),
			recording.NeedNumbers(r.h.Device, l.Values, "values", l.Count, l.Count, r.width),
			recording.NeedFound(r.h.Device, l), recording.NeedCount(r.h.Device, l.DeviceCount, l.Count))
	}, func() error {
		return r.h.Own.Find(s, l, func(found uint64) error {
			return r.of.Find(s, Lookups{
				Keys: l.Keys.Address(), Values: l.Values.Address(), Found: found, N: l.Count,
				CountAt: l.DeviceCount.Address(), Order: l.Order,
			})
		})
	})
}

// Count records the counting of the keys in ranges.
func (o OnStream) Count(c structures.DeviceCounts) error {
	r, s := o.Reader, o.Stream
	return r.on(s, c.Count, func() error {
		return cmp.Or(c.Made.Check(r.width),
			recording.NeedNumbers(r.h.Device, c.Ranges, "ends of ranges", c.Count, 2*c.Count, r.width),
			recording.Need(r.h.Device, c.Counts, "counts", c.Count, c.Count),
			recording.Need(r.h.Device, c.Candidates, "words for the candidates", c.Count, 0),
			recording.NeedCount(r.h.Device, c.DeviceCount, c.Count))
	}, func() error {
		return r.of.Count(s, Counts{
			Ranges: c.Ranges.Address(), Out: c.Counts.Address(), Total: c.Candidates.Address(), N: c.Count,
			CountAt: c.DeviceCount.Address(),
		})
	})
}

// Range records the writing of the pairs of ranges.
func (o OnStream) Range(q structures.DeviceRanges) error {
	r, s := o.Reader, o.Stream
	one := 1
	if q.Count == 0 && q.Offsets == nil && q.Candidates == nil {
		one = 0 // there is nothing to write
	}
	return r.on(s, q.Count, func() error {
		return cmp.Or(q.Made.Check(r.width),
			recording.NeedNumbers(r.h.Device, q.Ranges, "ends of ranges", q.Count, 2*q.Count, r.width),
			recording.Need(r.h.Device, q.Offsets, "offsets", q.Count, q.Count+one),
			recording.Need(r.h.Device, q.Candidates, "words for the candidates", q.Count, one),
			recording.Need(r.h.Device, q.Keys, "keys for the result", q.Count, 0),
			recording.Need(r.h.Device, q.Values, "values", q.Count, 0),
			recording.NeedCount(r.h.Device, q.DeviceCount, q.Count))
	}, func() error {
		if one == 0 {
			return nil
		}
		room := min(q.Keys.Len(), q.Values.Len()) / r.words()
		candidates := q.MaxCandidates
		if candidates <= 0 {
			candidates = room
		}
		return r.of.Range(s, Ranges{
			Ranges: q.Ranges.Address(), Offsets: q.Offsets.Address(), OutKeys: q.Keys.Address(),
			OutValues: q.Values.Address(), Total: q.Candidates.Address(), N: q.Count, CountAt: q.DeviceCount.Address(),
			Capacity: room, Candidates: candidates,
		})
	})
}

// Neighbor records the search for neighbors.
func (o OnStream) Neighbor(to structures.Direction, n structures.DeviceNeighbors) error {
	r, s := o.Reader, o.Stream
	check := func() error { return cmp.Or(pipeline.CheckDirection(to), r.needs(n, r.width, min(n.Count, 1))) }
	return r.on(s, n.Count, check, func() error {
		return r.of.Neighbors(s, to, of(n, 0))
	})
}
