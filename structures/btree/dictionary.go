package btree

import (
	"cmp"
	"context"
	"io"
	"iter"

	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
)

// Insert inserts each pair, or assigns the value to the key that is there. Statuses are Inserted or Assigned.
// structures.Updates describes equal keys in a batch and the errors.
func (t *Tree[K, V]) Insert(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.update(ctx, structures.Insert, keys, values)
}

// InsertUnique inserts each pair whose key is not there. Statuses are Inserted or Found.
func (t *Tree[K, V]) InsertUnique(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.update(ctx, structures.InsertUnique, keys, values)
}

// InsertAdd inserts each pair, or adds the value to the one that is there. structures.Updates says how integers wrap
// and how floats are added.
func (t *Tree[K, V]) InsertAdd(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.update(ctx, structures.InsertAdd, keys, values)
}

// InsertMin inserts each pair, or assigns the value if it is less than the one that is there.
func (t *Tree[K, V]) InsertMin(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.update(ctx, structures.InsertMin, keys, values)
}

// InsertMax inserts each pair, or assigns the value if it is greater than the one that is there.
func (t *Tree[K, V]) InsertMax(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.update(ctx, structures.InsertMax, keys, values)
}

// Delete removes each key. Statuses are Deleted or Absent.
func (t *Tree[K, V]) Delete(ctx context.Context, keys []K) ([]structures.Status, error) {
	return t.update(ctx, structures.Delete, keys, nil)
}

// Find returns the value of each key, 0 if the key is absent, and whether the key is there.
func (t *Tree[K, V]) Find(ctx context.Context, keys []K) (values []V, found []bool, err error) {
	return t.open().queries.Find(ctx, keys)
}

// Get returns the value of one key, and whether the key is there. It takes as long as Find of thousands of keys.
func (t *Tree[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	return t.open().queries.Get(ctx, key)
}

// Put inserts one pair, or assigns the value to the key that is there. It takes as long as Insert of thousands.
func (t *Tree[K, V]) Put(ctx context.Context, key K, value V) error {
	return t.UpdateInto(ctx, structures.Insert, []K{key}, []V{value}, nil)
}

// FindInto is Find into the caller's slices. values may be keys itself.
func (t *Tree[K, V]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	return t.open().queries.FindInto(ctx, keys, values, found)
}

// Apply does a batch of operations of any kinds. structures.Batch says in which order they take effect.
func (t *Tree[K, V]) Apply(ctx context.Context, b structures.Batch[K, V]) (structures.Results[K, V], error) {
	core, r := t.open().core, pipeline.ResultsOf(b)
	return pipeline.MadeResults(r, applyInto(ctx, core, b, &r))
}

// applyInto writes the results of a mixed batch to slices that have its length.
func applyInto[K, V structures.Number](ctx context.Context, core *tree, b structures.Batch[K, V],
	into *structures.Results[K, V]) error {
	err := cmp.Or(core.Err(), pipeline.Lengths(b, false))
	if err == nil {
		err = checkMixed(b.Kinds, b.Highs != nil, b.Width)
	}
	if err != nil {
		return err
	}
	pairs := &ordered.Pairs[K, V]{Width: core.width}
	offsets, err := core.mixed(ctx, request{
		Operations: pipeline.MixedOf(b, into, core.width), highs: pipeline.Keys(b.Highs, core.width), width: b.Width,
		moments: b.OwnMoments, outKeys: pipeline.KeyResults(into.Keys, core.width), pairs: pairs,
	})
	if offsets != nil {
		into.Ranges = structures.Ranges[K, V]{Offsets: offsets, Keys: pairs.Keys, Values: pairs.Values}
	}
	return err
}

// UpdateInto does a batch of updates of one kind, and writes the status of each to the caller's slice. values belong to
// insertions, and are nil for Delete. If status is nil, that saves a sort on the batched path.
func (t *Tree[K, V]) UpdateInto(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	core := t.open().core
	if err := cmp.Or(core.Err(), checkUpdate(kind)); err != nil {
		return err
	}
	o, err := pipeline.UpdatesOf(kind, keys, values, status, core.width)
	if err != nil {
		return err
	}
	return core.update(ctx, request{Operations: o})
}

func (t *Tree[K, V]) update(ctx context.Context, kind structures.Kind, keys []K,
	values []V) ([]structures.Status, error) {
	status := make([]structures.Status, len(keys))
	return pipeline.Made(status, t.UpdateInto(ctx, kind, keys, values, status))
}

// Len returns the number of pairs.
func (t *Tree[K, V]) Len(ctx context.Context) (uint64, error) {
	return t.open().core.Len(ctx)
}

// Clear removes all pairs.
func (t *Tree[K, V]) Clear(ctx context.Context) error {
	return t.open().core.Clear(ctx)
}

// All returns the pairs in key order. An error ends the iteration: structures.ErrChanged if the pairs changed before
// the last part was read, and those of Range.
func (t *Tree[K, V]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return t.open().queries.All(ctx)
}

// Chunks is All with many pairs at a time, in slices that are valid until the next ones come.
func (t *Tree[K, V]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return t.open().queries.Chunks(ctx)
}

// Save writes all pairs and the options that Load needs to w, and returns the number of bytes. The file names the types
// of keys and values.
func (t *Tree[K, V]) Save(ctx context.Context, w io.Writer) (int64, error) {
	return t.open().core.Save(ctx, w)
}

// Prepare makes all kernels that calls may need, so that no later call makes one. A driver may take seconds for the
// kernels of the first calls.
func (t *Tree[K, V]) Prepare(ctx context.Context) error {
	return t.open().core.Prepare(ctx)
}

// Close waits for the calls that are running, and frees the memory after the work that streams have recorded or
// submitted. Further calls do nothing.
//
// If others share the pool, Close gives the nodes back, and waits for the streams for that. If it returns
// vk.ErrUnsubmitted, because a stream has recorded work on the tree and not submitted it, or *vk.OutOfMemoryError, the
// tree is still open.
func (t *Tree[K, V]) Close() error {
	return t.open().core.Close()
}

// Count returns the number of keys in each range.
func (t *Tree[K, V]) Count(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	return t.open().queries.Count(ctx, ranges)
}

// Range returns the pairs of each range, in key order.
func (t *Tree[K, V]) Range(ctx context.Context, ranges []structures.Range[K]) (structures.Ranges[K, V], error) {
	return t.open().queries.Range(ctx, ranges)
}

// RangeInto is Range into the caller's slices. It makes new slices if those have no room.
func (t *Tree[K, V]) RangeInto(ctx context.Context, ranges []structures.Range[K],
	into *structures.Ranges[K, V]) error {
	return t.open().queries.RangeInto(ctx, ranges, into)
}

// Neighbor finds the neighbor of each key in one direction: structures.Successor, Predecessor, Floor or Ceil.
func (t *Tree[K, V]) Neighbor(ctx context.Context, to structures.Direction,
	keys []K) (structures.Neighbors[K, V], error) {
	return t.open().queries.Neighbor(ctx, to, keys)
}

// Rank returns for each key the number of keys that are less. The key itself need not be there.
func (t *Tree[K, V]) Rank(ctx context.Context, keys []K) ([]uint32, error) {
	return t.open().queries.Rank(ctx, keys)
}

// Select returns the pair of each rank. The least key has rank 0.
func (t *Tree[K, V]) Select(ctx context.Context, ranks []uint32) (structures.Neighbors[K, V], error) {
	return t.open().queries.Select(ctx, ranks)
}

// Ascend returns the pairs of a range in key order. Errors are those of All.
func (t *Tree[K, V]) Ascend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return t.open().queries.Ascend(ctx, r)
}

// Descend returns the pairs of a range, the greatest key first. Errors are those of All.
func (t *Tree[K, V]) Descend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return t.open().queries.Descend(ctx, r)
}

// DeleteRange removes the keys of each range, one range after the other, and returns how many it removed for each. If
// ranges overlap, the first one counts the keys that they share. If it fails, it returns a *structures.PendingError
// with the number of ranges that may still have keys, and the counts of the keys that it did remove. The same call
// again removes the others.
func (t *Tree[K, V]) DeleteRange(ctx context.Context, ranges []structures.Range[K]) (counts []uint32, err error) {
	return t.open().core.deleteRange(ctx, ordered.Words(ranges))
}
