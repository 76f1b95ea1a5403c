package ordered

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// Ranks are keys on the device whose ranks are asked for, as structures.DeviceRanks.
type Ranks struct {
	Keys, Out uint64
	N         int
	CountAt   uint64
}

// Rank returns how many keys are less than each key.
func (r *Reader) Rank(ctx context.Context, keys []uint32) ([]uint32, error) {
	if err := r.of.Enter(ctx); err != nil {
		return nil, err
	}
	defer r.of.Leave()
	r.of.Meter().Query(len(keys))
	ranks := make([]uint32, len(keys))
	columns := []pipeline.Column{pipeline.In(keys), pipeline.Result(ranks)}
	_, err := r.pipelines.Run(ctx, len(keys), columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return r.of.Rank(s, Ranks{Keys: c.Columns[0], Out: c.Columns[1], N: c.Count})
		},
		Progress: r.progress,
	})
	return ranks, err
}

// Select returns the pairs of ranks.
func (r *Reader) Select(ctx context.Context, ranks []uint32) (structures.Neighbors, error) {
	if err := r.of.Enter(ctx); err != nil {
		return structures.Neighbors{}, err
	}
	defer r.of.Leave()
	r.of.Meter().Query(len(ranks))
	n := len(ranks)
	out := structures.Neighbors{Keys: make([]uint32, n), Values: make([]uint32, n), Found: make([]bool, n)}
	statuses := make([]structures.Status, n)
	columns := []pipeline.Column{pipeline.In(ranks), pipeline.Result(out.Keys), pipeline.Result(out.Values), pipeline.Result(statuses)}
	_, err := r.pipelines.Run(ctx, n, columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return r.of.Select(s, Neighbors{
				Keys: c.Columns[0], OutKeys: c.Columns[1], OutValues: c.Columns[2], Status: c.Columns[3], N: c.Count,
			})
		},
		Progress: r.progress,
	})
	for i, status := range statuses {
		out.Found[i] = status == structures.Found
	}
	return out, err
}

// RankOn records the search for ranks.
func (r *Reader) RankOn(s *vk.Stream, q structures.DeviceRanks) error {
	return r.on(s, q.Count, func() error {
		return cmp.Or(recording.Need(r.d, q.Keys, "keys", q.Count, q.Count), recording.Need(r.d, q.Ranks, "ranks", q.Count, q.Count),
			recording.NeedCount(r.d, q.DeviceCount, q.Count))
	}, func() error {
		return r.of.Rank(s, Ranks{Keys: q.Keys.Address(), Out: q.Ranks.Address(), N: q.Count, CountAt: q.DeviceCount.Address()})
	})
}

// SelectOn records the search for the pairs of ranks.
func (r *Reader) SelectOn(s *vk.Stream, n structures.DeviceNeighbors) error {
	return r.on(s, n.Count, func() error { return r.needs(n, 0) }, func() error { return r.of.Select(s, of(n, 0)) })
}

// ExportOn records the writing of all pairs.
func (r *Reader) ExportOn(s *vk.Stream, e structures.DeviceExport) error {
	return r.on(s, 1, func() error { return recording.NeedExport(r.d, e, false) }, func() error { return r.of.Export(s, e) })
}
