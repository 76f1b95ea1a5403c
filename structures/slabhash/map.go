// Package slabhash is a dynamic hash table in GPU memory: the slab hash of Ashkiani, Farach-Colton and
// Owens, "A Dynamic Hash Table for the GPU" (2018), over Vulkan.
//
// A Map holds pairs of 32-bit keys and values, a Set 32-bit keys; every key is allowed. Batches of
// operations, of one kind or mixed, run concurrently on the device, each operation by a tile of lanes
// that reads a slab of 128 bytes at a time. A key may have one value (Insert, InsertUnique, Add, Min,
// Max) or many (InsertDuplicate).
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
	"github.com/vkds/vkds/vk"
)

// Map is a hash table of pairs. Several goroutines may use one: its calls take turns, with those of all tables that share
// its pool (structures.Dictionary says more).
type Map struct{ t *table }

var _ structures.Dictionary = (*Map)(nil)

// New makes an empty map. Errors: *structures.OptionError; *structures.CapacityError, before anything is allocated, where there is
// no memory for what the options ask for; *vk.OutOfMemoryError.
func New(ctx context.Context, d *vk.Device, o Options) (*Map, error) {
	t, err := newTable(ctx, d, o, false)
	if err != nil {
		return nil, err
	}
	return &Map{t}, nil
}

// Build makes a map of pairs, sized for them. Where a key comes twice, the last of its values stays. Errors: those of New
// and of Insert.
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

func (m *Map) insertion(ctx context.Context, kind structures.Kind, keys, values []uint32) ([]structures.Status, error) {
	if len(keys) != len(values) {
		return nil, &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
	}
	return m.t.apply(ctx, kind, keys, values)
}

// Insert inserts each pair, or assigns to the key that is there (REPLACE of section III-B): Inserted or
// Assigned. Of equal keys in the batch the last one's value stays, and their statuses are those of one after the other.
//
// Errors of this and the other insertions: *structures.LengthError; *structures.PendingError, with the
// statuses that say what is done, around *vk.OutOfMemoryError, *structures.LimitError or the context's.
func (m *Map) Insert(ctx context.Context, keys, values []uint32) ([]structures.Status, error) {
	return m.insertion(ctx, structures.Insert, keys, values)
}

// InsertUnique inserts each pair whose key is not there: Inserted or Found. Of equal keys in the batch the first one counts.
func (m *Map) InsertUnique(ctx context.Context, keys, values []uint32) ([]structures.Status, error) {
	return m.insertion(ctx, structures.InsertUnique, keys, values)
}

// InsertDuplicate inserts each pair, whatever is there (INSERT of section III-B): Inserted. Equal keys of the batch come
// in any order.
func (m *Map) InsertDuplicate(ctx context.Context, keys, values []uint32) ([]structures.Status, error) {
	return m.insertion(ctx, structures.InsertDuplicate, keys, values)
}

// Add inserts each pair, or adds to the value that is there, modulo 2^32: Inserted or Assigned. Of equal keys in the batch
// any may be the one Inserted; so with Min and Max.
func (m *Map) Add(ctx context.Context, keys, values []uint32) ([]structures.Status, error) {
	return m.insertion(ctx, structures.Add, keys, values)
}

// Min inserts each pair, or lowers the value that is there: Inserted or Assigned.
func (m *Map) Min(ctx context.Context, keys, values []uint32) ([]structures.Status, error) {
	return m.insertion(ctx, structures.Min, keys, values)
}

// Max inserts each pair, or raises the value that is there: Inserted or Assigned.
func (m *Map) Max(ctx context.Context, keys, values []uint32) ([]structures.Status, error) {
	return m.insertion(ctx, structures.Max, keys, values)
}

// Delete removes the least recently inserted pair of each key: Deleted or Absent. Of equal keys in the batch any may be the
// one Deleted.
func (m *Map) Delete(ctx context.Context, keys []uint32) ([]structures.Status, error) {
	return m.t.apply(ctx, structures.Delete, keys, nil)
}

// DeleteAll removes all pairs of each key and returns how many. Error: *structures.PendingError, then some keys' pairs
// are gone and counted, those of others not at all or not all; Apply says which.
func (m *Map) DeleteAll(ctx context.Context, keys []uint32) (counts []uint32, err error) {
	return m.t.deleteAll(ctx, keys)
}

// Find returns the least recently inserted value of each key (SEARCH), 0 where it is absent, and
// whether it is there.
func (m *Map) Find(ctx context.Context, keys []uint32) (values []uint32, found []bool, err error) {
	values = make([]uint32, len(keys))
	found, err = m.t.find(ctx, keys, values)
	return values, found, err
}

// FindAll returns all values of each key (SEARCHALL): those of keys[i] are values[offsets[i]:offsets[i+1]],
// the least recently inserted first.
func (m *Map) FindAll(ctx context.Context, keys []uint32) (offsets []int, values []uint32, err error) {
	return m.t.findAll(ctx, keys)
}

// Count returns how many pairs each key has.
func (m *Map) Count(ctx context.Context, keys []uint32) ([]uint32, error) {
	return m.t.count(ctx, keys)
}

// Apply does a batch of operations of any kinds, concurrently. Errors: *structures.KindError before
// anything is done, and those of Insert.
func (m *Map) Apply(ctx context.Context, b structures.Batch) (structures.Results, error) {
	return m.t.mixed(ctx, b)
}

// Len counts the pairs, by a kernel that reads the table.
func (m *Map) Len(ctx context.Context) (uint64, error) { return m.t.len(ctx) }

// Stats measures the table, by a kernel that goes over all of it, and waits for that.
func (m *Map) Stats(ctx context.Context) (Stats, error) { return m.t.stats(ctx) }

// Clear removes all pairs; the number of buckets stays. It waits for the streams that work on the map, and where one has work
// recorded that was not submitted, it is vk.ErrUnsubmitted.
func (m *Map) Clear(ctx context.Context) error { return m.t.clear(ctx) }

// Flush compacts the buckets in place and gives slabs back to the pool (FLUSH). A cancelled flush is
// harmless: some buckets are then compacted and others are not.
func (m *Map) Flush(ctx context.Context) error { return m.t.flush(ctx) }

// Rehash moves the pairs to so many buckets, at least 4; 0: as many as Options.Load asks for. The new
// base slabs are made before the old ones go. It waits for the streams that work on the map, and where one has work recorded
// that was not submitted, it is vk.ErrUnsubmitted. After an error the table is as it was.
func (m *Map) Rehash(ctx context.Context, buckets int) error { return m.t.rehashTo(ctx, buckets) }

// Timings returns how long the kernels of Flush, Rehash and Clear took on the device since the last call,
// by module: "flush.map", "rehash", "release" (of the slabs behind the old base slabs). Empty without
// Options.Timed.
func (m *Map) Timings() []vk.Timing { return m.t.timings() }

// Export returns all pairs, in no particular order.
func (m *Map) Export(ctx context.Context) (keys, values []uint32, err error) {
	err = m.t.export(ctx, func(k, v []uint32) bool {
		keys, values = append(keys, k...), append(values, v...)
		return true
	})
	return keys, values, err
}

// Chunks calls yield with all pairs, part by part, in no particular order, until it returns false. The
// slices are valid until yield returns. The table must not change meanwhile, as with All.
func (m *Map) Chunks(ctx context.Context, yield func(keys, values []uint32) bool) error {
	return m.t.export(ctx, yield)
}

// All returns the pairs as a sequence, in no particular order. It reads the table part by part, so the
// table must not change meanwhile. If the device fails, the context ends or the table is rehashed
// (structures.ErrChanged), so does the sequence, and the function returned tells why.
func (m *Map) All(ctx context.Context) (iter.Seq2[uint32, uint32], func() error) {
	var failure error
	pairs := func(yield func(uint32, uint32) bool) {
		failure = m.t.export(ctx, func(keys, values []uint32) bool {
			for i, k := range keys {
				if !yield(k, values[i]) {
					return false
				}
			}
			return true
		})
	}
	return pairs, func() error { return failure }
}

// Device describes the map to kernels.
func (m *Map) Device() Device { return m.t.described() }

// Constants are the specialization constants that a kernel over this map needs, by name: TILE as it is
// best for updates, and those of the pool. They may change when the map grows.
func (m *Map) Constants() map[string]uint32 { return m.t.constants() }

// UsedOn notes that what was recorded into a stream so far names the map's memory, as Device describes it: kernels of your
// own, for the map's methods do so themselves. Calls that replace that memory wait until the work has ended, or return
// vk.ErrUnsubmitted where it was not submitted; Close frees it behind the work.
func (m *Map) UsedOn(s *vk.Stream) { m.t.usedOn(s) }

// Close frees the map's memory, and gives the slabs of a shared pool back. What streams have recorded or submitted is
// allowed to end first: the memory goes when the streams find that it has. But the slabs of a shared pool can't go back
// then: with work recorded that was not submitted, Close returns vk.ErrUnsubmitted, and the map stays open.
func (m *Map) Close() error { return m.t.close() }
