package sortedarray

import (
	"context"
	"io"
	"iter"

	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/sorted"
	"github.com/vkds/vkds/structures"
)

// Insert inserts each pair, or assigns the value to the key that is there. Statuses are Inserted or Assigned.
// structures.Updates describes equal keys in a batch and the errors.
func (a *Array[K, V]) Insert(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return a.update(ctx, structures.Insert, keys, values)
}

// InsertUnique inserts each pair whose key is not there. Statuses are Inserted or Found.
func (a *Array[K, V]) InsertUnique(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return a.update(ctx, structures.InsertUnique, keys, values)
}

// InsertAdd inserts each pair, or adds the value to the one that is there. structures.Updates says how integers wrap
// and how floats are added.
func (a *Array[K, V]) InsertAdd(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return a.update(ctx, structures.InsertAdd, keys, values)
}

// InsertMin inserts each pair, or assigns the value if it is less than the one that is there.
func (a *Array[K, V]) InsertMin(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return a.update(ctx, structures.InsertMin, keys, values)
}

// InsertMax inserts each pair, or assigns the value if it is greater than the one that is there.
func (a *Array[K, V]) InsertMax(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return a.update(ctx, structures.InsertMax, keys, values)
}

// Delete removes each key. Statuses are Deleted or Absent.
func (a *Array[K, V]) Delete(ctx context.Context, keys []K) ([]structures.Status, error) {
	return a.update(ctx, structures.Delete, keys, nil)
}

// Find returns the value of each key, 0 if the key is absent, and whether the key is there.
func (a *Array[K, V]) Find(ctx context.Context, keys []K) (values []V, found []bool, err error) {
	return a.open().queries.Find(ctx, keys)
}

// Get returns the value of one key, and whether the key is there. It takes as long as Find of thousands of keys.
func (a *Array[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	return a.open().queries.Get(ctx, key)
}

// Put inserts one pair, or assigns the value to the key that is there. It takes as long as Insert of thousands.
func (a *Array[K, V]) Put(ctx context.Context, key K, value V) error {
	return a.UpdateInto(ctx, structures.Insert, []K{key}, []V{value}, nil)
}

// FindInto is Find into the caller's slices. values may be keys itself.
func (a *Array[K, V]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	return a.open().queries.FindInto(ctx, keys, values, found)
}

// Apply does a batch of operations of any kinds. structures.Batch says in which order they take effect.
func (a *Array[K, V]) Apply(ctx context.Context, b structures.Batch[K, V]) (structures.Results[K, V], error) {
	core, r := a.open().core, pipeline.ResultsOf(b)
	o, err := sorted.Mixed(&core.core, b, &r)
	if err == nil {
		err = core.apply(ctx, o)
	}
	return pipeline.MadeResults(r, err)
}

// UpdateInto does a batch of updates of one kind, and writes the status of each to the caller's slice. values belong to
// insertions, and are nil for Delete. If status is nil, that saves a sort.
func (a *Array[K, V]) UpdateInto(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	core := a.open().core
	o, err := sorted.Update(&core.core, kind, keys, values, status)
	if err != nil {
		return err
	}
	return core.update(ctx, o)
}

func (a *Array[K, V]) update(ctx context.Context, kind structures.Kind, keys []K,
	values []V) ([]structures.Status, error) {
	status := make([]structures.Status, len(keys))
	return pipeline.Made(status, a.UpdateInto(ctx, kind, keys, values, status))
}

// Len returns the number of pairs, also of an update on a stream that still runs.
func (a *Array[K, V]) Len(ctx context.Context) (uint64, error) {
	return a.open().core.len(ctx)
}

// Clear removes all pairs.
func (a *Array[K, V]) Clear(ctx context.Context) error {
	return a.open().core.clear(ctx)
}

// All returns the pairs in key order. An error ends the iteration: structures.ErrChanged if the pairs changed before
// the last part was read, and those of Range.
func (a *Array[K, V]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return a.open().queries.All(ctx)
}

// Chunks is All with many pairs at a time, in slices that are valid until the next ones come.
func (a *Array[K, V]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return a.open().queries.Chunks(ctx)
}

// Save writes all pairs and the options that Load needs to w, and returns the number of bytes. The file names the types
// of keys and values.
func (a *Array[K, V]) Save(ctx context.Context, w io.Writer) (int64, error) {
	return a.open().core.save(ctx, w)
}

// Prepare makes all kernels that calls may need, so that no later call makes one. A driver may take seconds for the
// kernels of the first calls.
func (a *Array[K, V]) Prepare(ctx context.Context) error {
	return a.open().core.core.Prepare(ctx)
}

// Close waits for the calls that are running, and frees the memory. Further calls do nothing.
func (a *Array[K, V]) Close() error {
	return a.open().core.Close()
}

// Count returns the number of keys in each range.
func (a *Array[K, V]) Count(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	return a.open().queries.Count(ctx, ranges)
}

// Range returns the pairs of each range, in key order.
func (a *Array[K, V]) Range(ctx context.Context, ranges []structures.Range[K]) (structures.Ranges[K, V], error) {
	return a.open().queries.Range(ctx, ranges)
}

// RangeInto is Range into the caller's slices. It makes new slices if those have no room.
func (a *Array[K, V]) RangeInto(ctx context.Context, ranges []structures.Range[K],
	into *structures.Ranges[K, V]) error {
	return a.open().queries.RangeInto(ctx, ranges, into)
}

// Neighbor finds the neighbor of each key in one direction: structures.Successor, Predecessor, Floor or Ceil.
func (a *Array[K, V]) Neighbor(ctx context.Context, to structures.Direction,
	keys []K) (structures.Neighbors[K, V], error) {
	return a.open().queries.Neighbor(ctx, to, keys)
}

// Rank returns for each key the number of keys that are less. The key itself need not be there.
func (a *Array[K, V]) Rank(ctx context.Context, keys []K) ([]uint32, error) {
	return a.open().queries.Rank(ctx, keys)
}

// Select returns the pair of each rank. The least key has rank 0.
func (a *Array[K, V]) Select(ctx context.Context, ranks []uint32) (structures.Neighbors[K, V], error) {
	return a.open().queries.Select(ctx, ranks)
}

// Ascend returns the pairs of a range in key order. Errors are those of All.
func (a *Array[K, V]) Ascend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return a.open().queries.Ascend(ctx, r)
}

// Descend returns the pairs of a range, the greatest key first. Errors are those of All.
func (a *Array[K, V]) Descend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return a.open().queries.Descend(ctx, r)
}

// DeleteRange removes the keys of each range, one range after the other, and returns how many it removed for each. If
// ranges overlap, the first one counts the keys that they share. It copies the array once, for any number of ranges.
func (a *Array[K, V]) DeleteRange(ctx context.Context, ranges []structures.Range[K]) (counts []uint32, err error) {
	return a.open().core.deleteRange(ctx, ordered.Words(ranges))
}
