package sorted

import (
	"context"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/runs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Prepare makes all kernels that calls on the structure may need (structures.Dictionary). small makes an empty
// structure of the same types, in words. try runs the calls on it that the interfaces do not have.
func Prepare[W structures.Word, S structures.Ordered[W, W]](ctx context.Context, c *Core,
	small func(context.Context) (S, error), try func(context.Context, S) error) error {
	if err := c.gate.EnterShared(ctx); err != nil {
		return err
	}
	c.gate.LeaveShared()
	if c.prepared.Load() {
		return nil
	}
	err := recording.Prepare(ctx, c.Device, c.Progress, []recording.Part{
		c.rehearsal(c.rehearseQueries), c.rehearsal(c.rehearseUpdates),
		func(ctx context.Context, _ *vk.Stream) error {
			x, err := small(ctx)
			if err != nil {
				return err
			}
			defer func() { _ = x.Close() }() // its work has ended
			if err := recording.Trial[W](ctx, c.Device, x); err != nil {
				return err
			}
			return try(ctx, x)
		},
	})
	if err == nil {
		c.prepared.Store(true)
	}
	return err
}

// somewhere is an address that nothing reads or writes.
const somewhere = recording.Align

// rehearsal records batches of all sizes. It uses only the kernels of the structure.
func (c *Core) rehearsal(record func(s *vk.Stream, n int) error) recording.Part {
	return func(_ context.Context, s *vk.Stream) error {
		for _, n := range recording.Sizes(runs.MaxQueries) {
			if err := record(s, n); err != nil {
				return err
			}
		}
		return nil
	}
}

func (c *Core) rehearseQueries(s *vk.Stream, n int) error {
	q, unique := c.Queries, c.of.Unique()
	st := runs.Stack{Rows: somewhere, Unit: 1, Front: uint32(n)}
	find := runs.FindArgs{Keys: somewhere, Values: somewhere, Found: somewhere, N: n, Scratch: somewhere}
	if err := q.Find(s, st, find); err != nil {
		return err
	}
	if err := q.FindSorted(s, st, find); err != nil {
		return err
	}
	for _, kind := range kinds {
		if err := q.Neighbor(s, st, kind, runs.NeighborArgs{N: n}); err != nil {
			return err
		}
	}
	if err := q.Survey(s, st, somewhere, n, somewhere); err != nil {
		return err
	}
	for _, total := range []uint64{0, somewhere} {
		if err := q.Count(s, st, runs.CountArgs{N: n, Unique: unique, Total: total, Scratch: somewhere}); err != nil {
			return err
		}
	}
	for _, ranges := range []int{1, n} {
		err := q.Range(s, st, runs.RangeArgs{
			N: ranges, Unique: unique, Offsets: somewhere, Total: somewhere, Capacity: n, Candidates: n,
			Scratch: somewhere,
		})
		if err != nil {
			return err
		}
	}
	if err := q.Rank(s, st, runs.RankArgs{N: 1, Unique: unique, Scratch: somewhere}); err != nil {
		return err
	}
	return q.Select(s, st, runs.SelectArgs{N: 1, Unique: unique, Scratch: somewhere})
}

func (c *Core) rehearseUpdates(s *vk.Stream, n int) error {
	q := c.Queries
	st := runs.Stack{Rows: somewhere, Unit: 1, Front: uint32(n)}
	for _, values := range []uint64{0, somewhere} {
		err := c.Primitives.Sort(s, primitives.SortArgs{
			Keys: somewhere, Values: values, OutKeys: somewhere, OutValues: values,
			Length: primitives.Length{N: n}, Widths: c.Widths(), Scratch: somewhere,
		})
		if err != nil {
			return err
		}
	}
	for _, tombstones := range []uint64{0, somewhere} {
		err := q.Merge(s, runs.MergeArgs{
			Older: runs.Source{N: n / 2}, Newer: runs.Source{N: n - n/2}, N: n,
			Out: runs.Row{Tombstones: tombstones}, Scratch: somewhere,
		})
		if err != nil {
			return err
		}
	}
	for _, kind := range []structures.Kind{structures.Insert, structures.Delete} {
		if err := q.Outcomes(s, st, runs.OutcomesArgs{Kind: kind, Keys: somewhere, N: n,
			Scratch: somewhere}); err != nil {
			return err
		}
	}
	for kind := structures.Mixed; kind <= structures.InsertMax; kind++ {
		if kind != structures.Mixed && !folds(kind) {
			continue
		}
		a := runs.FoldArgs{Type: c.Columns.Values.Type, Kind: kind, Keys: somewhere, Statuses: somewhere, N: n,
			Scratch: somewhere}
		if _, _, err := q.Fold(s, st, a); err != nil {
			return err
		}
	}
	if err := q.BuildIndex(s, somewhere, n, somewhere); err != nil {
		return err
	}
	if err := q.CountValid(s, st, 0, n, somewhere); err != nil {
		return err
	}
	return c.resolve(s, runs.Source{Keys: somewhere, Values: somewhere, N: n}, runs.Ranges{At: somewhere, N: 1},
		runs.Row{Keys: somewhere, Values: somewhere}, somewhere)
}
