package ordered

import (
	"cmp"
	"context"
	"math"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// A search for a neighbor is left pending after firstVisits steps at first. These are enough unless many deleted keys
// or empty leaves follow each other, and take little time. Searches that are left pending may make visitsGrowth times
// as many steps each time.
const (
	firstVisits  = 64
	visitsGrowth = 4
)

// Neighbors finds the neighbors of n keys in a valid direction. Further error: *structures.StuckError if a search makes
// more steps than it can need, which only a stray write causes.
func (r *Reader) Neighbors(ctx context.Context, to structures.Direction, n int,
	keys, outKeys, outValues, found pipeline.Column) error {
	search := &patience{visits: firstVisits}
	return r.ask(ctx, n, []pipeline.Column{keys, outKeys, outValues, found}, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return r.of.Neighbors(s, to, Neighbors{
				Keys: c.Columns[0], OutKeys: c.Columns[1], OutValues: c.Columns[2], Status: c.Columns[3],
				Left: c.Pending, N: c.Count, Resume: c.Retry, Visits: search.visits,
			})
		},
		Recover: func(ctx context.Context, pending int, stuck bool) error {
			search.Limits = r.of.Limits()
			return search.more(ctx, pending, stuck)
		},
		Parts: pipeline.PartsOfQueries,
	})
}

// patience counts the steps of searches that are left pending, and says how many they may make next.
type patience struct {
	Limits
	visits int    // steps in a dispatch
	made   uint64 // steps since a search was last finished
}

// more increases the number of steps, up to the limits. If no search ends although it makes VisitsAtOnce steps in one
// dispatch, more allows even more than that.
func (p *patience) more(_ context.Context, pending int, stuck bool) error {
	if !stuck {
		p.made = 0
	}
	if p.made += uint64(p.visits); p.made > p.Visits {
		return &structures.StuckError{Operations: pending}
	}
	most := p.VisitsAtOnce
	if stuck {
		most = max(most, min(2*p.visits, math.MaxInt32))
	}
	p.visits = min(max(firstVisits, visitsGrowth*p.visits), most)
	return nil
}

// FinishNeighbors waits for a stream with recorded searches for neighbors, and continues those that are left pending
// until none is. Errors: the context's; *structures.PendingError around *structures.StuckError, or around errors of
// recording.
func (o OnStream) FinishNeighbors(ctx context.Context, to structures.Direction, n structures.DeviceNeighbors) error {
	r, s := o.Reader, o.Stream
	if err := r.of.EnterOn(ctx); err != nil {
		return err
	}
	defer r.of.Leave()
	err := cmp.Or(r.h.Device.Accept("stream", s), pipeline.CheckDirection(to), r.needs(n, r.width, min(n.Count, 1)))
	if err != nil {
		return err
	}
	if n.Count == 0 {
		return s.Wait(ctx)
	}
	n.Resume = true
	search := patience{Limits: r.of.Limits()} // what was recorded before may have been given up early
	return pipeline.Finish(ctx, s, n.Left, search.more, func() error {
		return r.of.On(s, func() error { return r.of.Neighbors(s, to, of(n, search.visits)) })
	})
}

// needs returns an error if the buffers of searches on a stream do not suffice. asked is the width of the keys, and
// left is the number of words for Left.
func (r *Reader) needs(n structures.DeviceNeighbors, asked structures.Width, left int) error {
	return cmp.Or(n.Made.Check(r.width), recording.NeedNumbers(r.h.Device, n.Keys, "keys", n.Count, n.Count, asked),
		recording.NeedNumbers(r.h.Device, n.OutKeys, "keys for the result", n.Count, n.Count, r.width),
		recording.NeedNumbers(r.h.Device, n.OutValues, "values", n.Count, n.Count, r.width),
		recording.Need(r.h.Device, n.Status, "status bytes", n.Count, recording.Padded(n.Count)),
		recording.Need(r.h.Device, n.Left, "words for the number left", n.Count, left),
		recording.NeedCount(r.h.Device, n.DeviceCount, n.Count))
}

// of are searches by their addresses.
func of(n structures.DeviceNeighbors, visits int) Neighbors {
	return Neighbors{
		Keys: n.Keys.Address(), OutKeys: n.OutKeys.Address(), OutValues: n.OutValues.Address(),
		Status: n.Status.Address(), Left: n.Left.Address(), N: n.Count, CountAt: n.DeviceCount.Address(),
		Resume: n.Resume, Visits: visits,
	}
}
