package ordered

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Ranks is a batch of keys on the device whose ranks are found, as structures.DeviceRanks.
type Ranks struct {
	Keys, Out uint64
	N         int
	CountAt   uint64
}

// Rank counts the keys that are less than each of n keys.
func (r *Reader) Rank(ctx context.Context, n int, keys, ranks pipeline.Column) error {
	return r.ask(ctx, n, []pipeline.Column{keys, ranks}, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return r.of.Rank(s, Ranks{Keys: c.Columns[0], Out: c.Columns[1], N: c.Count})
		},
	})
}

// Select finds the pairs of n ranks.
func (r *Reader) Select(ctx context.Context, n int, ranks, keys, values, found pipeline.Column) error {
	return r.ask(ctx, n, []pipeline.Column{ranks, keys, values, found}, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return r.of.Select(s, Neighbors{
				Keys: c.Columns[0], OutKeys: c.Columns[1], OutValues: c.Columns[2], Status: c.Columns[3], N: c.Count,
			})
		},
	})
}

// Rank records the search for ranks.
func (o OnStream) Rank(q structures.DeviceRanks) error {
	r, s := o.Reader, o.Stream
	return r.on(s, q.Count, func() error {
		return cmp.Or(q.Made.Check(r.width),
			recording.NeedNumbers(r.h.Device, q.Keys, "keys", q.Count, q.Count, r.width),
			recording.Need(r.h.Device, q.Ranks, "ranks", q.Count, q.Count),
			recording.NeedCount(r.h.Device, q.DeviceCount, q.Count))
	}, func() error {
		return r.of.Rank(s, Ranks{Keys: q.Keys.Address(), Out: q.Ranks.Address(), N: q.Count,
			CountAt: q.DeviceCount.Address()})
	})
}

// Select records the search for the pairs of ranks.
func (o OnStream) Select(n structures.DeviceNeighbors) error {
	r, s := o.Reader, o.Stream
	check := func() error { return r.needs(n, structures.Bits32, 0) }
	return r.on(s, n.Count, check, func() error { return r.of.Select(s, of(n, 0)) })
}

// Export records the writing of all pairs.
func (o OnStream) Export(e structures.DeviceExport) error {
	r, s := o.Reader, o.Stream
	return r.on(s, 1, func() error { return recording.NeedExport(r.h.Device, e, r.width, false) }, func() error {
		return r.of.Export(s, e)
	})
}
