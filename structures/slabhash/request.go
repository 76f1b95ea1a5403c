package slabhash

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
)

// request is a batch from Go slices.
type request struct {
	n      int
	kind   structures.Kind
	kinds  []structures.Kind // of a Mixed one
	keys   pipeline.Column
	values pipeline.Column     // that insertions bring, or lookups, counts and DeleteAll result in
	status []structures.Status // nil: not wanted
}

// part is the request for some of the operations.
func (q request) part(first, n int) request {
	q.n, q.kinds, q.status = n, pipeline.Cut(q.kinds, first, first+n), pipeline.Cut(q.status, first, first+n)
	q.keys, q.values = q.keys.Part(first, n), q.values.Part(first, n)
	return q
}

// updateInto does a batch of updates of one kind from a user's slices.
func updateInto[K, V structures.Number](ctx context.Context, t *table, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	if err := t.err(); err != nil {
		return err
	}
	q := request{n: len(keys), kind: kind, keys: pipeline.Keys(keys, t.width), status: status}
	switch {
	case kind.Inserts() && !t.keys:
		if len(values) != len(keys) {
			return &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
		}
		q.values = pipeline.Values(values, t.width)
	case kind == structures.DeleteAll:
		q.values = pipeline.Counts(values, t.width)
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
func update[K, V structures.Number](ctx context.Context, t *table, kind structures.Kind, keys []K,
	values []V) ([]structures.Status, error) {
	status := make([]structures.Status, len(keys))
	return pipeline.Made(status, updateInto(ctx, t, kind, keys, values, status))
}

// applyInto does a batch of operations of any kinds from a user's slices.
func applyInto[K, V structures.Number](ctx context.Context, t *table, b structures.Batch[K, V],
	into *structures.Results[K, V]) error {
	if err := cmp.Or(t.err(), pipeline.Lengths(b, t.keys), pipeline.FitsResults(b, into)); err != nil {
		return err
	}
	for i, k := range b.Kinds {
		if k == structures.Mixed || k > structures.CountAll {
			return &structures.KindError{Index: i, Kind: k}
		}
	}
	return t.do(ctx, request{
		n: len(b.Keys), kind: structures.Mixed, kinds: b.Kinds, keys: pipeline.Keys(b.Keys, t.width),
		values: pipeline.Mixed(b.Kinds, b.Values, into.Values, t.width), status: into.Status,
	})
}

// apply is applyInto with results of its own.
func apply[K, V structures.Number](ctx context.Context, t *table,
	b structures.Batch[K, V]) (structures.Results[K, V], error) {
	r := pipeline.ResultsOf(b)
	err := applyInto(ctx, t, b, &r)
	return pipeline.MadeResults(r, err)
}

// deleteAll removes all pairs of each key, and counts them.
func deleteAll[K structures.Number](ctx context.Context, t *table, keys []K) ([]uint32, error) {
	counts := make([]uint32, len(keys))
	return counts, updateInto(ctx, t, structures.DeleteAll, keys, counts, nil)
}

// countAll counts the pairs of each key.
func countAll[K structures.Number](ctx context.Context, t *table, keys []K) ([]uint32, error) {
	counts := make([]uint32, len(keys))
	return counts, t.countAll(ctx, len(keys), pipeline.Keys(keys, t.width), counts)
}
