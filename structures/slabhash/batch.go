package slabhash

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
)

// updateInto does a batch of updates of one kind from the caller's slices.
func updateInto[K, V structures.Number](ctx context.Context, t *table, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	if err := t.Err(); err != nil {
		return err
	}
	o := pipeline.Operations{Kind: kind, N: len(keys), Keys: pipeline.Keys(keys, t.width), Status: status}
	switch {
	case kind.Inserts() && !t.keys:
		if len(values) != len(keys) {
			return &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
		}
		o.Values = pipeline.Values(values, t.width)
	case kind == structures.DeleteAll:
		o.Values = pipeline.Counts(values, t.width)
	case kind != structures.Delete && !kind.Inserts():
		return &structures.KindError{Kind: kind}
	}
	err := cmp.Or(pipeline.Fits(len(keys), "values", values), pipeline.Fits(len(keys), "statuses", status))
	if err != nil {
		return err
	}
	return t.do(ctx, o)
}

// update is updateInto with new slices for the statuses.
func update[K, V structures.Number](ctx context.Context, t *table, kind structures.Kind, keys []K,
	values []V) ([]structures.Status, error) {
	status := make([]structures.Status, len(keys))
	return pipeline.Made(status, updateInto(ctx, t, kind, keys, values, status))
}

// apply does a batch of operations of any kinds from the caller's slices.
func apply[K, V structures.Number](ctx context.Context, t *table,
	b structures.Batch[K, V]) (structures.Results[K, V], error) {
	r := pipeline.ResultsOf(b)
	err := cmp.Or(t.Err(), pipeline.Lengths(b, t.keys))
	for i, k := range b.Kinds {
		if err == nil && (k == structures.Mixed || k > structures.CountAll) {
			err = &structures.KindError{Index: i, Kind: k}
		}
	}
	if err == nil {
		err = t.do(ctx, pipeline.MixedOf(b, &r, t.width))
	}
	return pipeline.MadeResults(r, err)
}

// deleteAll removes all pairs of each key, and returns their numbers.
func deleteAll[K structures.Number](ctx context.Context, t *table, keys []K) ([]uint32, error) {
	counts := make([]uint32, len(keys))
	return counts, updateInto(ctx, t, structures.DeleteAll, keys, counts, nil)
}

// countAll counts the pairs of each key.
func countAll[K structures.Number](ctx context.Context, t *table, keys []K) ([]uint32, error) {
	counts := make([]uint32, len(keys))
	return counts, t.countAll(ctx, len(keys), pipeline.Keys(keys, t.width), counts)
}
