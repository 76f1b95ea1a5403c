package slabhash

import (
	"cmp"
	"context"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/internal/sequential"
	"github.com/vkds/vkds/vk"
)

// request is a batch in Go slices: what it brings, and where what comes of it goes. Of what is nil there is none, or it
// is not wanted.
type request[W structures.Word] struct {
	kind    structures.Kind
	kinds   []structures.Kind // of a Mixed one
	keys    []W
	values  []W
	results []W // of lookups, counts and DeleteAll
	status  []structures.Status
}

// part is the request for some of the operations.
func (q request[W]) part(first, end int) request[W] {
	q.kinds, q.keys, q.values = pipeline.Cut(q.kinds, first, end), q.keys[first:end], pipeline.Cut(q.values, first, end)
	q.results, q.status = pipeline.Cut(q.results, first, end), pipeline.Cut(q.status, first, end)
	return q
}

// updateInto does a batch of updates of one kind.
func (t *table[W]) updateInto(ctx context.Context, kind structures.Kind, keys, values []W,
	status []structures.Status) error {
	if err := t.err(); err != nil {
		return err
	}
	q := request[W]{kind: kind, keys: keys, status: status}
	switch {
	case kind.Inserts() && !t.keys:
		if q.values = values; len(values) != len(keys) {
			return &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
		}
	case kind == structures.DeleteAll:
		q.results = values
	case kind != structures.Delete && !kind.Inserts():
		return &structures.KindError{Kind: kind}
	}
	err := cmp.Or(pipeline.Fits(len(keys), "values", values), pipeline.Fits(len(keys), "statuses", status))
	if err != nil {
		return err
	}
	return t.do(ctx, q)
}

// update is updateInto with statuses of its own.
func (t *table[W]) update(ctx context.Context, kind structures.Kind,
	keys, values []W) ([]structures.Status, error) {
	status := make([]structures.Status, len(keys))
	return pipeline.Made(status, t.updateInto(ctx, kind, keys, values, status))
}

// mixedInto does a batch of operations of any kinds.
func (t *table[W]) mixedInto(ctx context.Context, b structures.Batch[W, W], into *structures.Results[W, W]) error {
	if err := cmp.Or(t.err(), pipeline.Lengths(b, t.keys), pipeline.FitsResults(b, into)); err != nil {
		return err
	}
	for i, k := range b.Kinds {
		if k == structures.Mixed || k > structures.CountAll {
			return &structures.KindError{Index: i, Kind: k}
		}
	}
	return t.do(ctx, request[W]{structures.Mixed, b.Kinds, b.Keys, b.Values, into.Values, into.Status})
}

// mixed is mixedInto with results of its own.
func (t *table[W]) mixed(ctx context.Context, b structures.Batch[W, W]) (structures.Results[W, W], error) {
	r := pipeline.ResultsOf(b)
	err := t.mixedInto(ctx, b, &r)
	return pipeline.MadeResults(r, err)
}

// do does a batch, when its turn has come.
func (t *table[W]) do(ctx context.Context, q request[W]) error {
	if err := t.enter(ctx); err != nil {
		return pipeline.NotBegun(q.status, len(q.keys), err)
	}
	defer t.leave()
	t.changes.Made()
	t.meter.Batch(q.kind, len(q.keys))
	ordered := sequential.Matters(q.kind, len(q.keys), pipeline.In(q.keys))
	for done, all := 0, len(q.keys); done < all; {
		n, err := t.roomForSome(ctx, q.kind, all-done)
		left := n
		if err == nil {
			left, err = t.run(ctx, q.part(done, done+n), ordered, pipeline.After(t.o.Progress, done, all))
		}
		if done += n; err != nil {
			clear(pipeline.Cut(q.status, done, all))
			return pipeline.Stopped(q.status, left+all-done, err)
		}
	}
	return nil
}

// roomForSome returns how many of n operations may be dispatched next, and counts them in.
func (t *table[W]) roomForSome(ctx context.Context, kind structures.Kind, n int) (int, error) {
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

// run has the device do a batch for which there is room. left: so many operations of it were not done.
func (t *table[W]) run(ctx context.Context, q request[W], ordered bool,
	progress structures.Progress) (left int, err error) {
	defer t.calm(t.visits)
	columns := []pipeline.Column{pipeline.In(q.keys), {}, pipeline.In(q.kinds), pipeline.Statuses(q.status)}
	if q.kind == structures.Mixed || t.hasValues(q.kind) {
		columns[1] = pipeline.Through(q.values, q.results)
	}
	tails := slices.Contains(q.kinds, structures.InsertDuplicate)
	plain := !recording.UpdatesInPlace(q.kind, q.kinds)
	task := pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			b := operandsOf(c)
			b.tails, b.plain = tails, plain
			if ordered {
				return t.recordInOrder(s, q.kind, b)
			}
			return t.recordApply(s, q.kind, b)
		},
		Recover:  t.makeRoom,
		Progress: progress,
		Parts:    pipeline.PartsOfQueries,
	}
	if ordered {
		task = t.order.Begin(task)
	}
	return t.pipelines.Run(ctx, len(q.keys), columns, task)
}

// hasValues says whether operations of a kind bring a value, or result in one.
func (t *table[W]) hasValues(kind structures.Kind) bool {
	return kind > structures.Delete || !t.keys && (kind == structures.Mixed || kind.Inserts())
}

func operandsOf(c pipeline.Chunk) operands {
	return operands{
		keys: c.Columns[0], values: c.Columns[1], kinds: c.Columns[2], statuses: c.Columns[3],
		pending: c.Pending, count: c.Count, retry: c.Retry,
	}
}

// findInto looks keys up. Of a set there are no values.
func (t *table[W]) findInto(ctx context.Context, keys, values []W, found []bool) error {
	err := cmp.Or(t.err(), pipeline.Fits(len(keys), "values", values), pipeline.Fits(len(keys), "found flags", found))
	if err != nil {
		return err
	}
	if err := t.enterShared(ctx); err != nil {
		return err
	}
	defer t.leaveShared()
	t.meter.Query(len(keys))
	columns := []pipeline.Column{pipeline.In(keys), {}, pipeline.Result(found)}
	if !t.keys {
		columns[1] = pipeline.Result(values)
	}
	_, err = t.pipelines.Run(ctx, len(keys), columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return t.recordFind(s, c.Columns[0], c.Columns[1], c.Columns[2], recording.Length{N: uint32(c.Count)})
		},
		Progress: t.o.Progress,
		Parts:    pipeline.PartsOfQueries,
	})
	return err
}

// countAll counts the pairs of each key.
func (t *table[W]) countAll(ctx context.Context, keys []W) ([]uint32, error) {
	if err := t.enterShared(ctx); err != nil {
		return nil, err
	}
	defer t.leaveShared()
	return t.counts(ctx, keys)
}

// counts is countAll by who has entered.
func (t *table[W]) counts(ctx context.Context, keys []W) ([]uint32, error) {
	t.meter.Query(len(keys))
	counts, visits := make([]W, len(keys)), new(uint32)
	*visits = initialVisits
	columns := []pipeline.Column{pipeline.In(keys), pipeline.Out(counts), {}, pipeline.Result[structures.Status](nil)}
	_, err := t.pipelines.Run(ctx, len(keys), columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			b := operandsOf(c)
			b.visits = *visits
			return t.recordApply(s, structures.CountAll, b)
		},
		Recover: func(_ context.Context, pending int, stuck bool) error {
			if !stuck {
				return nil
			}
			return t.raise(visits, pending)
		},
		Progress: t.o.Progress,
		Parts:    pipeline.PartsOfQueries,
	})
	return narrow(counts), err
}

// deleteAll removes all pairs of each key, and counts them.
func (t *table[W]) deleteAll(ctx context.Context, keys []W) ([]uint32, error) {
	counts := make([]W, len(keys))
	err := t.updateInto(ctx, structures.DeleteAll, keys, counts, nil)
	return narrow(counts), err
}

// narrow are numbers of pairs, which kernels write where values are.
func narrow[W structures.Word](counts []W) []uint32 {
	if same, is := any(counts).([]uint32); is {
		return same
	}
	all := make([]uint32, len(counts))
	for i, n := range counts {
		all[i] = uint32(n)
	}
	return all
}
