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
func (r *Reader[W]) Rank(ctx context.Context, keys []W) ([]uint32, error) {
	ranks := make([]uint32, len(keys))
	return ranks, r.RankInto(ctx, keys, ranks)
}

// RankInto is Rank into the caller's slice.
func (r *Reader[W]) RankInto(ctx context.Context, keys []W, ranks []uint32) error {
	if len(ranks) != len(keys) {
		return &structures.LengthError{Keys: len(keys), Other: "ranks", Got: len(ranks)}
	}
	if err := r.of.Enter(ctx); err != nil {
		return err
	}
	defer r.of.Leave()
	r.of.Meter().Query(len(keys))
	columns := []pipeline.Column{pipeline.In(keys), pipeline.Result(ranks)}
	_, err := r.pipelines.Run(ctx, len(keys), columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return r.of.Rank(s, Ranks{Keys: c.Columns[0], Out: c.Columns[1], N: c.Count})
		},
		Progress: r.progress,
	})
	return err
}

// Select returns the pairs of ranks.
func (r *Reader[W]) Select(ctx context.Context, ranks []uint32) (structures.Neighbors[W, W], error) {
	out := newNeighbors[W](len(ranks))
	return out, r.SelectInto(ctx, ranks, out)
}

// SelectInto is Select into the caller's slices.
func (r *Reader[W]) SelectInto(ctx context.Context, ranks []uint32, into structures.Neighbors[W, W]) error {
	n := len(ranks)
	if err := fit(n, into); err != nil {
		return err
	}
	if err := r.of.Enter(ctx); err != nil {
		return err
	}
	defer r.of.Leave()
	r.of.Meter().Query(n)
	_, err := r.pipelines.Run(ctx, n, columns(ranks, into), pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return r.of.Select(s, Neighbors{
				Keys: c.Columns[0], OutKeys: c.Columns[1], OutValues: c.Columns[2], Status: c.Columns[3], N: c.Count,
			})
		},
		Progress: r.progress,
	})
	return err
}

// RankOn records the search for ranks.
func (r *Reader[W]) RankOn(s *vk.Stream, q structures.DeviceRanks) error {
	return r.on(s, q.Count, func() error {
		return cmp.Or(recording.NeedNumbers(r.d, q.Keys, "keys", q.Count, q.Count, structures.WidthOf[W]()),
			recording.Need(r.d, q.Ranks, "ranks", q.Count, q.Count),
			recording.NeedCount(r.d, q.DeviceCount, q.Count))
	}, func() error {
		return r.of.Rank(s, Ranks{Keys: q.Keys.Address(), Out: q.Ranks.Address(), N: q.Count,
			CountAt: q.DeviceCount.Address()})
	})
}

// SelectOn records the search for the pairs of ranks.
func (r *Reader[W]) SelectOn(s *vk.Stream, n structures.DeviceNeighbors) error {
	check := func() error { return r.needs(n, structures.Bits32, 0) }
	return r.on(s, n.Count, check, func() error { return r.of.Select(s, of(n, 0)) })
}

// ExportOn records the writing of all pairs.
func (r *Reader[W]) ExportOn(s *vk.Stream, e structures.DeviceExport) error {
	return r.on(s, 1, func() error { return recording.NeedExport(r.d, e, false) }, func() error {
		return r.of.Export(s, e)
	})
}
