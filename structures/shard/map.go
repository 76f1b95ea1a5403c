package shard

import (
	"context"
	"io"
	"iter"

	"github.com/vkds/vkds/structures"
)

// Map divides keys by a hash among dictionaries, its shards. The zero value is not open; its methods return
// vk.ErrNotOpen. It is safe for many goroutines (structures.Dictionary).
//
// A batch of one kind is divided in blocks of 2^20 operations for each shard. A map keeps memory for three blocks:
// about 14 bytes an operation at 32 bits, and 26 at 64. A device is fastest with two shards: one works while the
// operations or the results of the other are copied.
type Map[K, V structures.Number] struct{ d *dictionary[K, V] }

var _ structures.Dictionary[uint32, uint64] = (*Map[uint32, uint64])(nil)

// NewMap makes a map of 1 to 256 empty dictionaries, as a rule all of one kind, one on each device. The map owns them:
// nothing else may change them, and Close closes them.
//
// Errors: *vk.OptionError if a shard is nil, comes twice or has pairs; those of Len of a shard.
func NewMap[K, V structures.Number](ctx context.Context, shards ...structures.Dictionary[K, V]) (*Map[K, V], error) {
	d, err := newDictionary(ctx, byHash[K](len(shards)), shards, nil)
	if err != nil {
		return nil, err
	}
	return &Map[K, V]{d}, nil
}

// open returns the dictionary, or one that is not open.
func (m *Map[K, V]) open() *dictionary[K, V] {
	if m == nil {
		m = &Map[K, V]{}
	}
	return m.d.opened()
}

// ShardOf returns the number of the shard that a key belongs to, its place in the arguments of NewMap.
func (m *Map[K, V]) ShardOf(key K) int {
	return shardOf(&m.open().place, key)
}

// Insert inserts each pair, or assigns the value to the key that is there. Statuses are Inserted or Assigned.
// structures.Updates describes equal keys in a batch and the errors; those of shards come inside an *Error.
func (m *Map[K, V]) Insert(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return m.open().update(ctx, structures.Insert, keys, values)
}

// InsertUnique inserts each pair whose key is not there. Statuses are Inserted or Found.
func (m *Map[K, V]) InsertUnique(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return m.open().update(ctx, structures.InsertUnique, keys, values)
}

// InsertAdd inserts each pair, or adds the value to the one that is there.
func (m *Map[K, V]) InsertAdd(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return m.open().update(ctx, structures.InsertAdd, keys, values)
}

// InsertMin inserts each pair, or assigns the value if it is less than the one that is there.
func (m *Map[K, V]) InsertMin(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return m.open().update(ctx, structures.InsertMin, keys, values)
}

// InsertMax inserts each pair, or assigns the value if it is greater than the one that is there.
func (m *Map[K, V]) InsertMax(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return m.open().update(ctx, structures.InsertMax, keys, values)
}

// Delete removes each key. Statuses are Deleted or Absent.
func (m *Map[K, V]) Delete(ctx context.Context, keys []K) ([]structures.Status, error) {
	return m.open().update(ctx, structures.Delete, keys, nil)
}

// UpdateInto does a batch of updates of one kind that the shards do, and writes the status of each to the caller's
// slice. values belong to insertions, and are nil for Delete; status may be nil.
func (m *Map[K, V]) UpdateInto(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	return m.open().updateInto(ctx, kind, keys, values, status)
}

// Apply does a batch of operations of any kinds that the shards do. Each shard orders the operations on its own keys as
// structures.Batch says.
func (m *Map[K, V]) Apply(ctx context.Context, b structures.Batch[K, V]) (structures.Results[K, V], error) {
	return m.open().apply(ctx, b)
}

// Find returns the value of each key, 0 if the key is absent, and whether the key is there. If shards fail, the results
// of the other shards' keys are right, and those of theirs are 0 and false.
func (m *Map[K, V]) Find(ctx context.Context, keys []K) (values []V, found []bool, err error) {
	return m.open().find(ctx, keys)
}

// Get returns the value of one key, 0 if the key is absent, and whether the key is there.
func (m *Map[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	return m.open().get(ctx, key)
}

// Put inserts one pair, or assigns the value to the key that is there.
func (m *Map[K, V]) Put(ctx context.Context, key K, value V) error {
	return m.open().put(ctx, key, value)
}

// FindInto is Find into the caller's slices, either of which may be nil.
func (m *Map[K, V]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	return m.open().findInto(ctx, keys, values, found)
}

// All returns the pairs, in no particular order. It ends with structures.ErrChanged if the map changes.
func (m *Map[K, V]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return m.open().pairs(ctx)
}

// Chunks is All with many pairs at a time, in slices that are valid until the next ones come.
func (m *Map[K, V]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return m.open().chunks(ctx)
}

// Len returns the number of pairs.
func (m *Map[K, V]) Len(ctx context.Context) (uint64, error) {
	return m.open().len(ctx)
}

// Clear removes all pairs. If shards fail, the others have none.
func (m *Map[K, V]) Clear(ctx context.Context) error {
	return m.open().clear(ctx)
}

// Save writes all pairs to w, and returns the number of bytes. The file is that of one slabhash: every structure can
// load it, and a Map over any number of shards. Errors: w's, and those of Len and All.
func (m *Map[K, V]) Save(ctx context.Context, w io.Writer) (int64, error) {
	return m.open().save(ctx, w, "slabhash")
}

// Load inserts the pairs of a file that Save of any structure, or the vkds tool, has written. The map must be empty,
// and is locked until Load returns. If the shards allow it (structures.InsertDuplicate), keys may have several values.
// After an error the map may have some of the pairs.
//
// Errors: *structures.SavedError; r's own; those of Insert, without the PendingError around them.
func (m *Map[K, V]) Load(ctx context.Context, r io.Reader) error {
	return m.open().load(ctx, r)
}

// Prepare makes all kernels that the shards may need.
func (m *Map[K, V]) Prepare(ctx context.Context) error {
	return m.open().prepare(ctx)
}

// Close closes the shards. The other methods then return vk.ErrClosed. If a shard can't be closed, its error is
// returned and the map stays open, unless its device is lost.
func (m *Map[K, V]) Close() error {
	return m.open().close()
}
