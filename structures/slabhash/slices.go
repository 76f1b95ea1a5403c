package slabhash

import (
	"context"
	"slices"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/sequential"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// do enters the table and does a batch.
func (t *table) do(ctx context.Context, o pipeline.Operations) error {
	ctx, end := t.Progress.Begin(ctx)
	defer end()
	if err := t.Enter(ctx); err != nil {
		return pipeline.NotBegun(o.Status, o.N, err)
	}
	defer t.Leave()
	t.Changes.Made()
	t.Meter.Batch(o.Kind, o.N)
	ordered := sequential.Matters(o.Kind, o.N, o.Keys)
	for done, all := 0, o.N; done < all; {
		n, err := t.roomForSome(ctx, o.Kind, all-done)
		left := n
		if err == nil {
			left, err = t.run(ctx, o.Part(done, done+n), ordered, pipeline.After(gate.Told(ctx), done, all))
		}
		if done += n; err != nil {
			clear(pipeline.Cut(o.Status, done, all))
			return pipeline.Stopped(o.Status, left+all-done, err)
		}
	}
	return nil
}

// roomForSome returns how many of n operations may be dispatched next, and adds them to t.used.
func (t *table) roomForSome(ctx context.Context, kind structures.Kind, n int) (int, error) {
	if kind != structures.Mixed && !kind.Inserts() {
		return n, nil
	}
	room, err := t.roomFor(ctx, n)
	if err != nil {
		return 0, err
	}
	n = min(n, room)
	t.used += uint64(n)
	return n, nil
}

// run does a batch for which there is room. left is the number of operations that were not done.
func (t *table) run(ctx context.Context, o pipeline.Operations, ordered bool,
	progress structures.Progress) (left int, err error) {
	defer t.calm(t.visits)
	columns := []pipeline.Column{o.Keys, o.Values, pipeline.In(o.Kinds), pipeline.Statuses(o.Status)}
	tails := slices.Contains(o.Kinds, structures.InsertDuplicate)
	plain := !recording.UpdatesInPlace(o.Kind, o.Kinds)
	task := pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			b := operandsOf(c)
			b.tails, b.plain = tails, plain
			if ordered {
				return t.recordInOrder(s, o.Kind, b)
			}
			return t.recordApply(s, o.Kind, b)
		},
		Recover:  t.makeRoom,
		Progress: progress,
		Parts:    pipeline.PartsOfQueries,
	}
	if ordered {
		task = t.order.Begin(task)
	}
	return t.Pipelines.Run(ctx, o.N, columns, task)
}

func operandsOf(c pipeline.Chunk) operands {
	return operands{
		keys: c.Columns[0], values: c.Columns[1], kinds: c.Columns[2], statuses: c.Columns[3],
		pending: c.Pending, count: c.Count, retry: c.Retry,
	}
}

// find looks n keys up. A set has no values.
func (t *table) find(ctx context.Context, n int, keys, values, found pipeline.Column) error {
	ctx, end := t.Progress.Begin(ctx)
	defer end()
	if err := t.EnterQuery(ctx); err != nil {
		return err
	}
	defer t.LeaveShared()
	t.Meter.Query(n)
	_, err := t.Pipelines.Run(ctx, n, []pipeline.Column{keys, values, found}, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return t.recordFind(s, c.Columns[0], c.Columns[1], c.Columns[2], recording.Length{N: uint32(c.Count)})
		},
		Progress: gate.Told(ctx),
		Parts:    pipeline.PartsOfQueries,
	})
	return err
}

// countAll counts the pairs of each of n keys.
func (t *table) countAll(ctx context.Context, n int, keys pipeline.Column, counts []uint32) error {
	ctx, end := t.Progress.Begin(ctx)
	defer end()
	if err := t.EnterQuery(ctx); err != nil {
		return err
	}
	defer t.LeaveShared()
	return t.counts(ctx, n, keys, counts)
}

// counts is countAll for a caller that has entered the table.
func (t *table) counts(ctx context.Context, n int, keys pipeline.Column, counts []uint32) error {
	t.Meter.Query(n)
	visits := uint32(initialVisits)
	columns := []pipeline.Column{keys, pipeline.Counts(counts, t.width), {}, pipeline.Statuses(nil)}
	_, err := t.Pipelines.Run(ctx, n, columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			b := operandsOf(c)
			b.visits = visits
			return t.recordApply(s, structures.CountAll, b)
		},
		Recover: func(_ context.Context, pending int, stuck bool) error {
			if !stuck {
				return nil
			}
			return t.raise(&visits, pending)
		},
		Progress: gate.Told(ctx),
		Parts:    pipeline.PartsOfQueries,
	})
	return err
}
