// Package slabhash is a dynamic hash table in GPU memory: the slab hash of Ashkiani, Farach-Colton and
// Owens, "A Dynamic Hash Table for the GPU" (2018), over Vulkan.
//
// A Map holds pairs of 32-bit keys and values, a Set 32-bit keys; every key is allowed. Batches of
// operations, of one kind or mixed, run concurrently on the device, each operation by a tile of lanes
// that reads a slab of 128 bytes at a time. A key may have one value (Insert, InsertUnique, InsertAdd, InsertMin,
// InsertMax) or many (InsertDuplicate).
//
// There are three ways in. The methods that take Go slices copy a batch to the device and its results
// back, in overlapping chunks, and do whatever it needs: grow the pool of slabs, rehash. Those that end
// in On record the same work on a stream, over device buffers, and do not wait (stream-concurrent, in
// the dissertation's words). And a shader of your own may include slab_hash.glsl and take the table's
// Device in its push constants.
//
// Unlike the original, nothing is lost, duplicated or left hanging when the pool is full, a delete hits
// only its own key, a unique insertion stays unique after deletions, and slabs are given back.
package slabhash

import (
	"context"
	"errors"
	"iter"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/transfer"
	"github.com/vkds/vkds/vk"
)

// Map is a hash table of pairs. Several goroutines may use one: queries run beside one another, and what changes it, or
// another table that shares its pool, runs alone (structures.Dictionary says more). Stats runs alone, too.
type Map struct{ Table }

var _ structures.Dictionary = (*Map)(nil)

// New makes an empty map. Errors: *structures.OptionError; *structures.CapacityError, before anything is allocated,
// where there is no memory for what the options ask for; *vk.OutOfMemoryError.
func New(ctx context.Context, d *vk.Device, o Options) (*Map, error) {
	t, err := newTable(ctx, d, o, false)
	if err != nil {
		return nil, err
	}
	return &Map{Table{t}}, nil
}

// Build makes a map of pairs, sized for them. Where a key comes twice, the last of its values stays. Errors: those of
// New and of Insert.
func Build(ctx context.Context, d *vk.Device, keys, values []uint32, o Options) (*Map, error) {
	m, err := New(ctx, d, o.sizedFor(len(keys)))
	if err != nil {
		return nil, o.asked(err)
	}
	if _, err := m.Insert(ctx, keys, values); err != nil {
		return nil, errors.Join(pipeline.Cause(err), m.Close())
	}
	return m, nil
}

// Insert inserts each pair, or assigns to the key that is there (REPLACE of section III-B): Inserted or
// Assigned. Of equal keys in the batch the last one's value stays, and their statuses are those of one after the other.
//
// Errors of this and the other insertions: *structures.LengthError; *structures.PendingError, with the
// statuses that say what is done, around *vk.OutOfMemoryError, *structures.LimitError or the context's.
func (m *Map) Insert(ctx context.Context, keys, values []uint32) ([]structures.Status, error) {
	return m.t.update(ctx, structures.Insert, keys, values)
}

// InsertUnique inserts each pair whose key is not there: Inserted or Found. Of equal keys in the batch the first one
// counts.
func (m *Map) InsertUnique(ctx context.Context, keys, values []uint32) ([]structures.Status, error) {
	return m.t.update(ctx, structures.InsertUnique, keys, values)
}

// InsertDuplicate inserts each pair, whatever is there (INSERT of section III-B): Inserted. Equal keys of the batch
// come in any order.
func (m *Map) InsertDuplicate(ctx context.Context, keys, values []uint32) ([]structures.Status, error) {
	return m.t.update(ctx, structures.InsertDuplicate, keys, values)
}

// InsertAdd inserts each pair, or adds its value to the one that is there, modulo 2^32 (structures.Dictionary). Of a
// key with several pairs it is the least recently inserted one; so with InsertMin and InsertMax.
func (m *Map) InsertAdd(ctx context.Context, keys, values []uint32) ([]structures.Status, error) {
	return m.t.update(ctx, structures.InsertAdd, keys, values)
}

// InsertMin inserts each pair, or lowers the value that is there (structures.Dictionary).
func (m *Map) InsertMin(ctx context.Context, keys, values []uint32) ([]structures.Status, error) {
	return m.t.update(ctx, structures.InsertMin, keys, values)
}

// InsertMax inserts each pair, or raises the value that is there (structures.Dictionary).
func (m *Map) InsertMax(ctx context.Context, keys, values []uint32) ([]structures.Status, error) {
	return m.t.update(ctx, structures.InsertMax, keys, values)
}

// Find returns the least recently inserted value of each key (SEARCH), 0 where it is absent, and
// whether it is there.
func (m *Map) Find(ctx context.Context, keys []uint32) (values []uint32, found []bool, err error) {
	values, found = make([]uint32, len(keys)), make([]bool, len(keys))
	return values, found, m.FindInto(ctx, keys, values, found)
}

// FindInto is Find into the caller's slices, each as long as keys or nil: then it is not wanted. values may be keys
// itself, and must not overlap with it otherwise. After an error their contents mean nothing. Error also:
// *structures.LengthError.
func (m *Map) FindInto(ctx context.Context, keys, values []uint32, found []bool) error {
	return m.t.findInto(ctx, keys, values, found)
}

// FindAll returns all values of each key (SEARCHALL): those of keys[i] are values[offsets[i]:offsets[i+1]],
// the least recently inserted first.
func (m *Map) FindAll(ctx context.Context, keys []uint32) (offsets []int, values []uint32, err error) {
	return m.t.findAll(ctx, keys)
}

// UpdateInto does a batch of updates of one kind, Insert to DeleteAll, and writes what becomes of each to the caller's
// slice, as long as keys, or nil: then it is not wanted. values are what insertions bring; of DeleteAll they are filled
// with how many pairs each key had, if that is wanted; of Delete nil. Errors: those of Insert, whose *PendingError then
// says how many operations are not done; *structures.KindError and *structures.LengthError before anything is done.
func (m *Map) UpdateInto(ctx context.Context, kind structures.Kind, keys, values []uint32,
	status []structures.Status) error {
	return m.t.updateInto(ctx, kind, keys, values, status)
}

// Timings returns how long the kernels of Flush, Rehash and Clear took on the device since the last call,
// by module: "flush.map", "rehash", "release" (of the slabs behind the old base slabs). Empty without
// Options.Timed.
func (m *Map) Timings() []vk.Timing { return m.t.timings() }

// Export returns all pairs, in no particular order.
func (m *Map) Export(ctx context.Context) (keys, values []uint32, err error) { return m.t.export(ctx) }

// All returns the pairs, in no particular order: for pair, err := range m.All(ctx). They are read part by part, and the
// map must not change meanwhile. If the device fails, ctx ends or the map is rehashed (structures.ErrChanged), the
// error comes last, with no pair.
func (m *Map) All(ctx context.Context) iter.Seq2[structures.Pair, error] {
	return transfer.Pairs(m.t.chunks(ctx, false), false)
}
