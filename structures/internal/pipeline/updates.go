package pipeline

import (
	"context"

	"github.com/vkds/vkds/structures"
)

// Updates are a structure's batches of one kind, with statuses of their own, by its UpdateInto.
type Updates[W structures.Word] func(ctx context.Context, kind structures.Kind, keys, values []W,
	status []structures.Status) error

var _ structures.Updates[uint32, uint32] = Updates[uint32](nil)

func (into Updates[W]) do(ctx context.Context, kind structures.Kind, keys, values []W) ([]structures.Status, error) {
	status := make([]structures.Status, len(keys))
	return Made(status, into(ctx, kind, keys, values, status))
}

// Insert inserts pairs, or assigns to keys that are there.
func (into Updates[W]) Insert(ctx context.Context, keys, values []W) ([]structures.Status, error) {
	return into.do(ctx, structures.Insert, keys, values)
}

// InsertUnique inserts pairs whose keys are not there.
func (into Updates[W]) InsertUnique(ctx context.Context, keys, values []W) ([]structures.Status, error) {
	return into.do(ctx, structures.InsertUnique, keys, values)
}

// InsertAdd inserts pairs, or adds to values that are there.
func (into Updates[W]) InsertAdd(ctx context.Context, keys, values []W) ([]structures.Status, error) {
	return into.do(ctx, structures.InsertAdd, keys, values)
}

// InsertMin inserts pairs, or lowers values that are there.
func (into Updates[W]) InsertMin(ctx context.Context, keys, values []W) ([]structures.Status, error) {
	return into.do(ctx, structures.InsertMin, keys, values)
}

// InsertMax inserts pairs, or raises values that are there.
func (into Updates[W]) InsertMax(ctx context.Context, keys, values []W) ([]structures.Status, error) {
	return into.do(ctx, structures.InsertMax, keys, values)
}

// Delete removes keys.
func (into Updates[W]) Delete(ctx context.Context, keys []W) ([]structures.Status, error) {
	return into.do(ctx, structures.Delete, keys, nil)
}
