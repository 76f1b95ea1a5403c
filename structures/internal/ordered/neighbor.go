package ordered

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/vk"
)

// A search for a neighbor makes so many steps before it is left pending, at first: enough for all but long rows of
// deleted keys or empty leaves, and never long. Those that are left pending may make more.
const (
	firstVisits  = 64
	visitsGrowth = 4
)

// Neighbors finds the neighbors of keys in a direction. Error also: *structures.StuckError where a search makes more steps
// than it has to, which only a stray write can cause.
func (r *Reader) Neighbors(ctx context.Context, to structures.Direction, keys []uint32) (structures.Neighbors, error) {
	if err := r.of.Enter(ctx); err != nil {
		return structures.Neighbors{}, err
	}
	defer r.of.Leave()
	n := len(keys)
	out := structures.Neighbors{Keys: make([]uint32, n), Values: make([]uint32, n), Found: make([]bool, n)}
	statuses := make([]structures.Status, n)
	columns := []pipeline.Column{pipeline.In(keys), pipeline.Out(out.Keys), pipeline.Out(out.Values), pipeline.Out(statuses)}
	limits, visits := r.of.Limits(), firstVisits
	made := uint64(0) // of each search that is pending, since the last one was finished
	err := r.pipeline.Run(ctx, n, columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return r.of.Neighbors(s, to, Neighbors{
				Keys: c.Columns[0], OutKeys: c.Columns[1], OutValues: c.Columns[2], Status: c.Columns[3], Left: c.Pending,
				N: c.Count, Resume: c.Retry, Visits: visits,
			})
		},
		Recover: func(_ context.Context, pending int, stuck bool) error {
			if !stuck {
				made = 0
			}
			if made += uint64(visits); made > limits.Visits {
				return &structures.StuckError{Operations: pending}
			}
			visits = min(visitsGrowth*visits, limits.VisitsAtOnce)
			return nil
		},
		Progress: r.progress,
	})
	for i, status := range statuses {
		if out.Found[i] = status == structures.Found; !out.Found[i] {
			out.Keys[i] = 0 // of one left pending, where it was to go on
		}
	}
	return out, err
}

// Min returns the pair with the least key.
func (r *Reader) Min(ctx context.Context) (key, value uint32, found bool, err error) {
	return r.end(ctx, structures.Ceil, 0)
}

// Max returns the pair with the greatest key.
func (r *Reader) Max(ctx context.Context) (key, value uint32, found bool, err error) {
	return r.end(ctx, structures.Floor, ^uint32(0))
}

func (r *Reader) end(ctx context.Context, to structures.Direction, from uint32) (key, value uint32, found bool, err error) {
	n, err := r.Neighbors(ctx, to, []uint32{from})
	if err != nil {
		return 0, 0, false, err
	}
	return n.Keys[0], n.Values[0], n.Found[0], nil
}
