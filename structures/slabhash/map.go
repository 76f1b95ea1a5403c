// Package slabhash is a dynamic hash table in GPU memory: the slab hash of Ashkiani, Farach-Colton and
// Owens, "A Dynamic Hash Table for the GPU" (2018), over Vulkan.
//
// A Map holds pairs, a Set keys, of any number type; every key is allowed. Batches of
// operations, of one kind or mixed, run concurrently on the device, each operation by a tile of lanes
// that reads a slab of 128 bytes at a time. A key may have one value (Insert, InsertUnique, InsertAdd, InsertMin,
// InsertMax) or many (InsertDuplicate).
//
// There are three ways in. The methods that take Go slices copy a batch to the device and its results
// back, in overlapping chunks, and do whatever it needs: grow the pool of slabs, rehash. Those that end
// in On record the same work on a stream, over device buffers, and do not wait (stream-concurrent, in
// the dissertation's words). And a shader of your own may include slab_hash.glsl and take the table's
// Description in its push constants.
//
// Unlike the original, nothing is lost, duplicated or left hanging when the pool is full, a delete hits
// only its own key, a unique insertion stays unique after deletions, and slabs are given back.
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

// Map is a hash table of pairs. Several goroutines may use one: queries run beside one another, and what changes it, or
// another table that shares its pool, runs alone (structures.Dictionary says more). Stats runs alone, too.
type Map[K, V structures.Number] struct{ table *table }

var _ structures.Dictionary[uint32, uint64] = (*Map[uint32, uint64])(nil)

// mapOf is the front of a table of pairs.
func mapOf[K, V structures.Number](t *table, err error) (*Map[K, V], error) {
	if err != nil {
		return nil, err
	}
	return &Map[K, V]{t}, nil
}

// open is the map's table, or, for a nil pointer or a zero value, one that is not open.
func (m *Map[K, V]) open() *table {
	if m == nil || m.table == nil {
		return bare(saved.Pairs[K, V]())
	}
	return m.table
}

// New makes an empty map. Errors: *vk.OptionError; *structures.CapacityError, before anything is allocated,
// where there is no memory for what the options ask for; *vk.OutOfMemoryError.
func New[K, V structures.Number](ctx context.Context, d *vk.Device, o Options) (*Map[K, V], error) {
	return mapOf[K, V](newTable(ctx, d, saved.Pairs[K, V](), o))
}

// Build makes a map of pairs, sized for them. Where a key comes twice, the last of its values stays. Errors: those of
// New and of Insert.
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

// Insert inserts each pair, or assigns to the key that is there (REPLACE of section III-B): Inserted or
// Assigned. Of equal keys in the batch the last one's value stays, and their statuses are those of one after the other.
//
// Errors of this and the other insertions: *structures.LengthError; *structures.PendingError, with the
// statuses that say what is done, around *vk.OutOfMemoryError, *vk.LimitError or the context's.
func (m *Map[K, V]) Insert(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return update(ctx, m.open(), structures.Insert, keys, values)
}

// InsertUnique inserts each pair whose key is not there: Inserted or Found. Of equal keys in the batch the first one
// counts.
func (m *Map[K, V]) InsertUnique(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return update(ctx, m.open(), structures.InsertUnique, keys, values)
}

// InsertDuplicate inserts each pair, whatever is there (INSERT of section III-B): Inserted. Equal keys of the batch
// come in any order.
func (m *Map[K, V]) InsertDuplicate(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return update(ctx, m.open(), structures.InsertDuplicate, keys, values)
}

// InsertAdd inserts each pair, or adds its value to the one that is there (structures.Updates). Of a key with several
// pairs it is the least recently inserted one; so with InsertMin and InsertMax.
func (m *Map[K, V]) InsertAdd(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return update(ctx, m.open(), structures.InsertAdd, keys, values)
}

// InsertMin inserts each pair, or lowers the value that is there (structures.Dictionary).
func (m *Map[K, V]) InsertMin(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return update(ctx, m.open(), structures.InsertMin, keys, values)
}

// InsertMax inserts each pair, or raises the value that is there (structures.Dictionary).
func (m *Map[K, V]) InsertMax(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return update(ctx, m.open(), structures.InsertMax, keys, values)
}

// Find returns the least recently inserted value of each key (SEARCH), 0 where it is absent, and
// whether it is there.
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

// FindInto is Find into the caller's slices, each as long as keys or nil: then it is not wanted. values may be keys
// itself, and must not overlap with it otherwise. After an error their contents mean nothing. Error also:
// *structures.LengthError.
func (m *Map[K, V]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	t, n := m.open(), len(keys)
	err := cmp.Or(t.gate.Err(), pipeline.Fits(n, "values", values), pipeline.Fits(n, "found flags", found))
	if err != nil {
		return err
	}
	return t.find(ctx, n, pipeline.Keys(keys, t.width), pipeline.ValueResults(values, t.width), pipeline.Result(found))
}

// FindAll returns all values of each key (SEARCHALL): those of keys[i] are values[offsets[i]:offsets[i+1]],
// the least recently inserted first.
func (m *Map[K, V]) FindAll(ctx context.Context, keys []K) (offsets []int, values []V, err error) {
	t := m.open()
	list := &valueList[V]{width: t.width}
	offsets, err = t.findAll(ctx, len(keys), pipeline.Keys(keys, t.width), list)
	return offsets, list.all, err
}

// UpdateInto does a batch of updates of one kind, Insert to DeleteAll, and writes what becomes of each to the caller's
// slice, as long as keys, or nil: then it is not wanted. values are what insertions bring; of DeleteAll they are filled
// with how many pairs each key had, if that is wanted; of Delete nil. Errors: those of Insert, whose *PendingError then
// says how many operations are not done; *structures.KindError and *structures.LengthError before anything is done.
func (m *Map[K, V]) UpdateInto(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	return updateInto(ctx, m.open(), kind, keys, values, status)
}

// All returns the pairs, in no particular order: for pair, err := range m.All(ctx). They are read part by part, and the
// map must not change meanwhile. An error comes last, with no pair: structures.ErrChanged if it did, vk.ErrUnsubmitted
// if a stream has recorded updates and not submitted them, the context's.
func (m *Map[K, V]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return transfer.Pairs(m.Chunks(ctx), false)
}

// Chunks is All with many pairs at a time, in slices that are valid until the next ones come.
func (m *Map[K, V]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return chunks[K, V](ctx, m.open(), false)
}

// Delete removes the least recently inserted pair of each key: Deleted or Absent. Of equal keys in the batch any
// may be the one Deleted.
func (m *Map[K, V]) Delete(ctx context.Context, keys []K) ([]structures.Status, error) {
	return update[K, V](ctx, m.open(), structures.Delete, keys, nil)
}

// DeleteAll removes all pairs of each key and returns how many. Error: *structures.PendingError, then some keys'
// pairs are gone and counted, those of others not at all or not all; Apply says which.
func (m *Map[K, V]) DeleteAll(ctx context.Context, keys []K) (counts []uint32, err error) {
	return deleteAll(ctx, m.open(), keys)
}

// CountAll returns how many pairs each key has.
func (m *Map[K, V]) CountAll(ctx context.Context, keys []K) ([]uint32, error) {
	return countAll(ctx, m.open(), keys)
}

// Apply does a batch of operations of any kinds, concurrently. Errors: *structures.KindError before
// anything is done, and those of Insert.
//
// A DeleteAll in such a batch takes a step for each pair that it removes. For keys with many pairs the call DeleteAll
// is faster, ten times for a key with 100,000 pairs, since it takes a step for each slab.
func (m *Map[K, V]) Apply(ctx context.Context, b structures.Batch[K, V]) (structures.Results[K, V], error) {
	return apply(ctx, m.open(), b)
}
