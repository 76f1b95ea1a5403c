package shard

import (
	"context"
	"io"
	"iter"

	"github.com/vkds/vkds/structures"
)

// Tree divides keys by ranges among ordered dictionaries, its shards, and answers ordered queries that cross them. The
// zero value is not open; its methods return vk.ErrNotOpen. It is safe for many goroutines (structures.Dictionary).
//
// The first batch of insertions sets the split points between the shards, by a sample of its keys. So does each later
// batch that is larger than the tree: the pairs then move to the shards where they belong. If a shard has more than
// half again its share, insertions move pairs until all shards have the same number. They check that after as many
// insertions as there were pairs at the last check, so the cost is a constant for each insertion. Keys that only grow,
// such as times, always go to the last shard: a Map divides these evenly.
//
// For the memory of large batches, see Map. Ranks and counts are modulo 2^32.
type Tree[K, V structures.Number] struct{ d *dictionary[K, V] }

var _ structures.Ordered[uint32, uint64] = (*Tree[uint32, uint64])(nil)

// NewTree makes a tree of 1 to 256 empty ordered dictionaries, as a rule all of one kind, one on each device. The tree
// owns them: nothing else may change them, and Close closes them.
//
// Errors: *vk.OptionError if a shard is nil, comes twice or has pairs; those of Len of a shard.
func NewTree[K, V structures.Number](ctx context.Context, shards ...structures.Ordered[K, V]) (*Tree[K, V], error) {
	var all []structures.Dictionary[K, V]
	for _, s := range shards {
		all = append(all, s)
	}
	d, err := newDictionary(ctx, byRange[K](len(shards)), all, shards)
	if err != nil {
		return nil, err
	}
	return &Tree[K, V]{d}, nil
}

// open returns the dictionary, or one that is not open.
func (t *Tree[K, V]) open() *dictionary[K, V] {
	if t == nil {
		t = &Tree[K, V]{}
	}
	return t.d.opened()
}

// Insert inserts each pair, or assigns the value to the key that is there. Statuses are Inserted or Assigned.
// structures.Updates describes equal keys in a batch and the errors; those of shards come inside an *Error.
func (t *Tree[K, V]) Insert(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.open().update(ctx, structures.Insert, keys, values)
}

// InsertUnique inserts each pair whose key is not there. Statuses are Inserted or Found.
func (t *Tree[K, V]) InsertUnique(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.open().update(ctx, structures.InsertUnique, keys, values)
}

// InsertAdd inserts each pair, or adds the value to the one that is there.
func (t *Tree[K, V]) InsertAdd(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.open().update(ctx, structures.InsertAdd, keys, values)
}

// InsertMin inserts each pair, or assigns the value if it is less than the one that is there.
func (t *Tree[K, V]) InsertMin(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.open().update(ctx, structures.InsertMin, keys, values)
}

// InsertMax inserts each pair, or assigns the value if it is greater than the one that is there.
func (t *Tree[K, V]) InsertMax(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.open().update(ctx, structures.InsertMax, keys, values)
}

// Delete removes each key. Statuses are Deleted or Absent.
func (t *Tree[K, V]) Delete(ctx context.Context, keys []K) ([]structures.Status, error) {
	return t.open().update(ctx, structures.Delete, keys, nil)
}

// UpdateInto does a batch of updates of one kind, and writes the status of each to the caller's slice. values belong to
// insertions, and are nil for Delete; status may be nil.
func (t *Tree[K, V]) UpdateInto(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	return t.open().updateInto(ctx, kind, keys, values, status)
}

// Apply does a batch of operations of any kinds that the shards do. Each shard orders the operations on its own keys as
// structures.Batch says. Ordered queries see all shards as they were before the batch; with OwnMoments, an ordered
// query may see each shard that it crosses at another moment of the batch.
func (t *Tree[K, V]) Apply(ctx context.Context, b structures.Batch[K, V]) (structures.Results[K, V], error) {
	return t.open().apply(ctx, b)
}

// Find returns the value of each key, 0 if the key is absent, and whether the key is there. If shards fail, the results
// of the other shards' keys are right, and those of theirs are 0 and false.
func (t *Tree[K, V]) Find(ctx context.Context, keys []K) (values []V, found []bool, err error) {
	return t.open().find(ctx, keys)
}

// Get returns the value of one key, 0 if the key is absent, and whether the key is there.
func (t *Tree[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	return t.open().get(ctx, key)
}

// Put inserts one pair, or assigns the value to the key that is there.
func (t *Tree[K, V]) Put(ctx context.Context, key K, value V) error {
	return t.open().put(ctx, key, value)
}

// FindInto is Find into the caller's slices, either of which may be nil.
func (t *Tree[K, V]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	return t.open().findInto(ctx, keys, values, found)
}

// Count returns the number of keys in each range.
func (t *Tree[K, V]) Count(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	return t.open().count(ctx, ranges)
}

// Range returns the pairs of each range, in key order.
func (t *Tree[K, V]) Range(ctx context.Context, ranges []structures.Range[K]) (structures.Ranges[K, V], error) {
	r := new(structures.Ranges[K, V])
	err := t.open().rangeInto(ctx, ranges, r)
	return *r, err
}

// RangeInto is Range into the caller's slices. It makes new slices if those have no room.
func (t *Tree[K, V]) RangeInto(ctx context.Context, ranges []structures.Range[K], into *structures.Ranges[K, V]) error {
	return t.open().rangeInto(ctx, ranges, into)
}

// Neighbor finds the neighbor of each key in one direction. Further error: *vk.OptionError.
func (t *Tree[K, V]) Neighbor(ctx context.Context, to structures.Direction,
	keys []K) (structures.Neighbors[K, V], error) {
	return t.open().neighbor(ctx, to, keys)
}

// Rank returns for each key the number of keys that are less. It counts the pairs of all shards.
func (t *Tree[K, V]) Rank(ctx context.Context, keys []K) ([]uint32, error) {
	return t.open().rank(ctx, keys)
}

// Select returns the pair of each rank. It counts the pairs of all shards.
func (t *Tree[K, V]) Select(ctx context.Context, ranks []uint32) (structures.Neighbors[K, V], error) {
	return t.open().selected(ctx, ranks)
}

// DeleteRange removes the keys of each range, one range after the other, and returns how many it removed for each. If
// shards fail, the *structures.PendingError counts each range once for each shard that may still have keys of it, at
// most the number of ranges.
func (t *Tree[K, V]) DeleteRange(ctx context.Context, ranges []structures.Range[K]) (counts []uint32, err error) {
	return t.open().deleteRange(ctx, ranges)
}

// Ascend returns the pairs of a range in key order. It ends with structures.ErrChanged if the tree changes.
func (t *Tree[K, V]) Ascend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return t.open().ascend(ctx, r, false)
}

// Descend is Ascend from the greatest key to the least.
func (t *Tree[K, V]) Descend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return t.open().ascend(ctx, r, true)
}

// All returns the pairs, in key order. It ends with structures.ErrChanged if the tree changes.
func (t *Tree[K, V]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return t.open().pairs(ctx)
}

// Chunks is All with many pairs at a time, in slices that are valid until the next ones come.
func (t *Tree[K, V]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return t.open().chunks(ctx)
}

// Len returns the number of pairs.
func (t *Tree[K, V]) Len(ctx context.Context) (uint64, error) {
	return t.open().len(ctx)
}

// Clear removes all pairs. The next batch of insertions has new split points. If shards fail, the others have none.
func (t *Tree[K, V]) Clear(ctx context.Context) error {
	return t.open().clear(ctx)
}

// Rebalance moves pairs between the shards so that all have the same number, as insertions do by themselves when a
// shard has too many. While pairs move, two shards have them. After an error of a shard, or if the context ends,
// all queries answer as before.
//
// If a shard fails to delete the pairs that it has given to another shard, it keeps copies of them. Len, Rank, Select,
// All, Chunks, Save, Load, Snapshot and Rebalance delete such copies first, and return the shard's error if that fails.
// So do insertions that move pairs, but these then move none. Other queries don't see the copies.
func (t *Tree[K, V]) Rebalance(ctx context.Context) error {
	return t.open().even(ctx)
}

// Save writes all pairs to w, and returns the number of bytes. The file is that of one btree: every structure can load
// it, and a Tree over any number of shards. Errors: w's, and those of Len and All.
func (t *Tree[K, V]) Save(ctx context.Context, w io.Writer) (int64, error) {
	return t.open().save(ctx, w, "btree")
}

// Load inserts the pairs of a file that Save of any structure, or the vkds tool, has written. The tree must be empty,
// and is locked until Load returns. After an error the tree may have some of the pairs.
//
// Errors: *structures.SavedError, also if keys have several values; r's own; those of Insert, without the PendingError
// around them.
func (t *Tree[K, V]) Load(ctx context.Context, r io.Reader) error {
	return t.open().load(ctx, r)
}

// Prepare makes all kernels that the shards may need.
func (t *Tree[K, V]) Prepare(ctx context.Context) error {
	return t.open().prepare(ctx)
}

// Close closes the shards. The other methods then return vk.ErrClosed. If a shard can't be closed, its error is
// returned and the tree stays open, unless its device is lost.
func (t *Tree[K, V]) Close() error {
	return t.open().close()
}
