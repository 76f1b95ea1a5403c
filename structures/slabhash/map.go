// Package slabhash is a dynamic hash table in GPU memory: the slab hash of Ashkiani, Farach-Colton and Owens, A Dynamic
// Hash Table for the GPU (2018).
//
// A Map holds pairs, a Set holds keys, of any number type. No key is reserved. The operations of a batch, of one kind
// or mixed, run concurrently on the device. A tile of lanes does an operation, and reads a slab of 128 bytes at a time.
// A key may have one value (Insert, InsertUnique, InsertAdd, InsertMin, InsertMax) or many (InsertDuplicate).
//
// There are three ways to use a table. Methods with Go slices copy a batch to the device and its results back, in
// overlapping chunks, and grow the pool of slabs or rehash if needed. On returns methods that record the same work on a
// stream, with device buffers, and do not wait. Your own shader can include slab_hash.glsl and get the table's
// Description in its push constants.
//
// Unlike in the original, a full pool loses and duplicates nothing, a deletion deletes only its own key, a unique
// insertion stays unique after deletions, and slabs are freed.
package slabhash

import (
	"cmp"
	"context"
	"iter"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Map is a hash table of pairs. It is safe for many goroutines: queries run at the same time. A change of the map, or
// of a table that shares its pool, runs alone (see structures.Dictionary), and so does Stats.
type Map[K, V structures.Number] struct{ table *table }

var _ structures.Dictionary[uint32, uint64] = (*Map[uint32, uint64])(nil)

// mapOf returns the public type of a table of pairs.
func mapOf[K, V structures.Number](t *table, err error) (*Map[K, V], error) {
	if err != nil {
		return nil, err
	}
	return &Map[K, V]{t}, nil
}

// open returns the map's table, or a table that is not open if m is nil or a zero value.
func (m *Map[K, V]) open() *table {
	if m == nil || m.table == nil {
		return bare(saved.Pairs[K, V]())
	}
	return m.table
}

// New makes an empty map. Errors: *vk.OptionError, *vk.OutOfMemoryError, and *structures.CapacityError, before anything
// is allocated, if there is too little memory for the options.
func New[K, V structures.Number](ctx context.Context, d *vk.Device, o Options) (*Map[K, V], error) {
	return mapOf[K, V](newTable(ctx, d, saved.Pairs[K, V](), o))
}

// Build makes a map of pairs, sized for them. If keys are equal, the last value stays. Errors are those of New and of
// Insert.
func Build[K, V structures.Number](ctx context.Context, d *vk.Device, keys []K, values []V,
	o Options) (*Map[K, V], error) {
	m, err := New[K, V](ctx, d, o.sizedFor(len(keys)))
	if err != nil {
		return nil, o.asked(err)
	}
	if _, err := m.Insert(ctx, keys, values); err != nil {
		return nil, joint.Error(pipeline.Cause(err), m.Close())
	}
	return m, nil
}

// Insert inserts each pair, or assigns the value to the key that is there (REPLACE of section III-B): Inserted or
// Assigned. If keys in the batch are equal, the last value stays, and the statuses are as if the operations were done
// one after the other.
//
// Errors of all insertions: *structures.LengthError, and *structures.PendingError around *vk.OutOfMemoryError,
// *vk.LimitError or the context's. The statuses then say what is done.
func (m *Map[K, V]) Insert(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return update(ctx, m.open(), structures.Insert, keys, values)
}

// InsertUnique inserts each pair whose key is not there: Inserted or Found. If keys in the batch are equal, the first
// one counts.
func (m *Map[K, V]) InsertUnique(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return update(ctx, m.open(), structures.InsertUnique, keys, values)
}

// InsertDuplicate inserts each pair, even if the key is there (INSERT of section III-B): Inserted. Equal keys in a
// batch are inserted in any order.
func (m *Map[K, V]) InsertDuplicate(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return update(ctx, m.open(), structures.InsertDuplicate, keys, values)
}

// InsertAdd inserts each pair, or adds the value to the one that is there (structures.Updates). If a key has several
// pairs, InsertAdd, InsertMin and InsertMax change the least recently inserted one.
func (m *Map[K, V]) InsertAdd(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return update(ctx, m.open(), structures.InsertAdd, keys, values)
}

// InsertMin inserts each pair, or assigns the value if it is less than the one that is there (structures.Updates).
func (m *Map[K, V]) InsertMin(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return update(ctx, m.open(), structures.InsertMin, keys, values)
}

// InsertMax inserts each pair, or assigns the value if it is greater than the one that is there (structures.Updates).
func (m *Map[K, V]) InsertMax(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return update(ctx, m.open(), structures.InsertMax, keys, values)
}

// Find returns the least recently inserted value of each key (SEARCH), 0 if the key is absent, and whether the key is
// there.
func (m *Map[K, V]) Find(ctx context.Context, keys []K) (values []V, found []bool, err error) {
	values, found = make([]V, len(keys)), make([]bool, len(keys))
	return values, found, m.FindInto(ctx, keys, values, found)
}

// Get returns the least recently inserted value of one key, and whether the key is there. It takes as long as Find of
// thousands of keys.
func (m *Map[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	values, flags := make([]V, 1), make([]bool, 1)
	err = m.FindInto(ctx, []K{key}, values, flags)
	return values[0], flags[0], err
}

// Put inserts one pair, or assigns the value to the key that is there. It takes as long as Insert of thousands.
func (m *Map[K, V]) Put(ctx context.Context, key K, value V) error {
	return m.UpdateInto(ctx, structures.Insert, []K{key}, []V{value}, nil)
}

// FindInto is Find into the caller's slices. Each has the length of keys, or is nil. values may be keys itself, but
// must not overlap with it otherwise. After an error their contents are not specified. Error also:
// *structures.LengthError.
func (m *Map[K, V]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	t, n := m.open(), len(keys)
	err := cmp.Or(t.Err(), pipeline.Fits(n, "values", values), pipeline.Fits(n, "found flags", found))
	if err != nil {
		return err
	}
	return t.find(ctx, n, pipeline.Keys(keys, t.width), pipeline.ValueResults(values, t.width), pipeline.Result(found))
}

// FindAll returns all values of each key (SEARCHALL). Those of keys[i] are values[offsets[i]:offsets[i+1]], the least
// recently inserted first.
func (m *Map[K, V]) FindAll(ctx context.Context, keys []K) (offsets []int, values []V, err error) {
	t := m.open()
	list := &valueList[V]{width: t.width}
	offsets, err = t.findAll(ctx, len(keys), pipeline.Keys(keys, t.width), list)
	return offsets, list.all, err
}

// UpdateInto does a batch of updates of one kind, Insert to DeleteAll, and writes the status of each to the caller's
// slice, which has the length of keys or is nil. values belong to insertions, and are nil for Delete. DeleteAll writes
// to values, unless it is nil, how many pairs each key had. Errors: *structures.KindError, *structures.LengthError, and
// those of Insert. If status is nil, the *structures.PendingError still says how many operations are not done.
func (m *Map[K, V]) UpdateInto(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	return updateInto(ctx, m.open(), kind, keys, values, status)
}

// All returns the pairs, in no particular order: for pair, err := range m.All(ctx). It reads them in parts, and the map
// must not change in between. Errors, which come last and without a pair: structures.ErrChanged if it did;
// vk.ErrUnsubmitted if a stream has recorded updates and not submitted them; the context's.
func (m *Map[K, V]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return transfer.Pairs(m.Chunks(ctx), false)
}

// Chunks is All with many pairs at a time, in slices that are valid until the next ones come.
func (m *Map[K, V]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return chunks[K, V](ctx, m.open(), false)
}

// Delete removes the least recently inserted pair of each key: Deleted or Absent. If keys in the batch are equal, any
// one of them is Deleted.
func (m *Map[K, V]) Delete(ctx context.Context, keys []K) ([]structures.Status, error) {
	return update[K, V](ctx, m.open(), structures.Delete, keys, nil)
}

// DeleteAll removes all pairs of each key and returns their numbers. After a *structures.PendingError, counts has the
// pairs removed so far, and some keys may still have pairs. Apply says which.
func (m *Map[K, V]) DeleteAll(ctx context.Context, keys []K) (counts []uint32, err error) {
	return deleteAll(ctx, m.open(), keys)
}

// CountAll returns how many pairs each key has.
func (m *Map[K, V]) CountAll(ctx context.Context, keys []K) ([]uint32, error) {
	return countAll(ctx, m.open(), keys)
}

// Apply does a batch of operations of any kinds, concurrently. Errors: *structures.KindError, before anything is done,
// and those of Insert.
//
// In a mixed batch DeleteAll takes a step for each pair that it removes. The method DeleteAll takes a step for each
// slab, and is ten times faster for a key with 100,000 pairs.
func (m *Map[K, V]) Apply(ctx context.Context, b structures.Batch[K, V]) (structures.Results[K, V], error) {
	return apply(ctx, m.open(), b)
}
