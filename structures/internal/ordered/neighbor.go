package ordered

import (
	"cmp"
	"context"
	"math"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// A search for a neighbor makes so many steps before it is left pending, at first: enough for all but long rows of
// deleted keys or empty leaves, and never long. Those that are left pending may make more.
const (
	firstVisits  = 64
	visitsGrowth = 4
)

// Neighbors finds the neighbors of keys in a direction. Error also: *structures.StuckError where a search makes more
// steps than it has to, which only a stray write can cause.
func (r *Reader[W]) Neighbors(ctx context.Context, to structures.Direction,
	keys []W) (structures.Neighbors[W, W], error) {
	out := newNeighbors[W](len(keys))
	return out, r.NeighborInto(ctx, to, keys, out)
}

func newNeighbors[W structures.Word](n int) structures.Neighbors[W, W] {
	return structures.Neighbors[W, W]{Keys: make([]W, n), Values: make([]W, n), Found: make([]bool, n)}
}

// fit says why slices can't take so many results.
func fit[W structures.Word](n int, into structures.Neighbors[W, W]) error {
	return cmp.Or(pipeline.Fits(n, "keys for the results", into.Keys), pipeline.Fits(n, "values", into.Values),
		pipeline.Fits(n, "found flags", into.Found))
}

func checkDirection(to structures.Direction) error {
	if to > structures.Ceil {
		return &structures.DirectionError{Direction: to}
	}
	return nil
}

// columns are keys, or ranks, and where their results go.
func columns[A, W structures.Word](asked []A, into structures.Neighbors[W, W]) []pipeline.Column {
	return []pipeline.Column{
		pipeline.In(asked), pipeline.Result(into.Keys), pipeline.Result(into.Values), pipeline.Founds(into.Found),
	}
}

// NeighborInto is Neighbors into the caller's slices.
func (r *Reader[W]) NeighborInto(ctx context.Context, to structures.Direction, keys []W,
	into structures.Neighbors[W, W]) error {
	n := len(keys)
	if err := cmp.Or(checkDirection(to), fit(n, into)); err != nil {
		return err
	}
	if err := r.of.Enter(ctx); err != nil {
		return err
	}
	defer r.of.Leave()
	r.of.Meter().Query(n)
	search := &patience{Limits: r.of.Limits(), visits: firstVisits}
	_, err := r.pipelines.Run(ctx, n, columns(keys, into), pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return r.of.Neighbors(s, to, Neighbors{
				Keys: c.Columns[0], OutKeys: c.Columns[1], OutValues: c.Columns[2], Status: c.Columns[3],
				Left: c.Pending, N: c.Count, Resume: c.Retry, Visits: search.visits,
			})
		},
		Recover:  search.more,
		Progress: r.progress,
		Parts:    pipeline.PartsOfQueries,
	})
	for i := range into.Keys {
		if err != nil && into.Found != nil && !into.Found[i] {
			into.Keys[i] = 0 // of one left pending, where it was to go on
		}
	}
	return err
}

// patience is how many steps searches that are left pending have made, and may make next.
type patience struct {
	Limits
	visits int    // in a dispatch
	made   uint64 // since the last search was finished
}

// more lets them make more of them, up to the limits. Who is stuck with the most in one dispatch may have a longer way
// to go: it may make more than that.
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

// FinishNeighbors waits for a stream that has searches for neighbors recorded, and carries on those that are left
// pending until none is. Errors: the context's; *structures.PendingError around *structures.StuckError, or what
// recording returns.
func (r *Reader[W]) FinishNeighbors(ctx context.Context, s *vk.Stream, to structures.Direction,
	n structures.DeviceNeighbors) error {
	if err := r.of.EnterOn(ctx); err != nil {
		return err
	}
	defer r.of.Leave()
	if err := cmp.Or(r.d.Accept("stream", s), checkDirection(to), r.needs(n, structures.WidthOf[W](), 1)); err != nil {
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

// needs says what searches on a stream lack that ask for numbers of a width, and have so many words for the number
// left.
func (r *Reader[W]) needs(n structures.DeviceNeighbors, asked structures.Width, left int) error {
	return cmp.Or(recording.NeedNumbers(r.d, n.Keys, "keys", n.Count, n.Count, asked),
		recording.NeedNumbers(r.d, n.OutKeys, "keys for the result", n.Count, n.Count, structures.WidthOf[W]()),
		recording.NeedNumbers(r.d, n.OutValues, "values", n.Count, n.Count, structures.WidthOf[W]()),
		recording.Need(r.d, n.Status, "status bytes", n.Count, recording.Padded(n.Count)),
		recording.Need(r.d, n.Left, "words for the number left", n.Count, left),
		recording.NeedCount(r.d, n.DeviceCount, n.Count))
}

// of are searches by their addresses.
func of(n structures.DeviceNeighbors, visits int) Neighbors {
	return Neighbors{
		Keys: n.Keys.Address(), OutKeys: n.OutKeys.Address(), OutValues: n.OutValues.Address(),
		Status: n.Status.Address(), Left: n.Left.Address(), N: n.Count, CountAt: n.DeviceCount.Address(),
		Resume: n.Resume, Visits: visits,
	}
}

// Min returns the pair with the least key.
func (r *Reader[W]) Min(ctx context.Context) (key, value W, found bool, err error) {
	return r.end(ctx, structures.Ceil, 0)
}

// Max returns the pair with the greatest key.
func (r *Reader[W]) Max(ctx context.Context) (key, value W, found bool, err error) {
	return r.end(ctx, structures.Floor, ^W(0))
}

func (r *Reader[W]) end(ctx context.Context, to structures.Direction,
	from W) (key, value W, found bool, err error) {
	n, err := r.Neighbors(ctx, to, []W{from})
	if err != nil {
		return 0, 0, false, err
	}
	return n.Keys[0], n.Values[0], n.Found[0], nil
}
