package slabhash

import (
	"context"
	"errors"
	"iter"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/vk"
)

// Set is a hash table of keys, 30 a slab. Several goroutines may use one, as a Map. Errors are those of Map.
type Set struct{ t *table }

// NewSet makes an empty set.
func NewSet(ctx context.Context, d *vk.Device, o Options) (*Set, error) {
	t, err := newTable(ctx, d, o, true)
	if err != nil {
		return nil, err
	}
	return &Set{t}, nil
}

// BuildSet makes a set of keys, sized for them.
func BuildSet(ctx context.Context, d *vk.Device, keys []uint32, o Options) (*Set, error) {
	s, err := NewSet(ctx, d, o.sizedFor(len(keys)))
	if err != nil {
		return nil, o.asked(err)
	}
	if _, err := s.Insert(ctx, keys); err != nil {
		return nil, errors.Join(pipeline.Cause(err), s.Close())
	}
	return s, nil
}

// Insert inserts each key that is not there: Inserted or Found. Of equal keys in the batch the first one is Inserted.
func (s *Set) Insert(ctx context.Context, keys []uint32) ([]structures.Status, error) {
	return s.t.apply(ctx, structures.InsertUnique, keys, nil)
}

// InsertDuplicate inserts each key, however often it is there already: Inserted.
func (s *Set) InsertDuplicate(ctx context.Context, keys []uint32) ([]structures.Status, error) {
	return s.t.apply(ctx, structures.InsertDuplicate, keys, nil)
}

// Delete removes each key once: Deleted or Absent.
func (s *Set) Delete(ctx context.Context, keys []uint32) ([]structures.Status, error) {
	return s.t.apply(ctx, structures.Delete, keys, nil)
}

// DeleteAll removes each key as often as it is there and returns how often.
func (s *Set) DeleteAll(ctx context.Context, keys []uint32) ([]uint32, error) {
	return s.t.deleteAll(ctx, keys)
}

// Contains says of each key whether it is there.
func (s *Set) Contains(ctx context.Context, keys []uint32) ([]bool, error) {
	return s.t.find(ctx, keys, nil)
}

// Count returns how often each key is there.
func (s *Set) Count(ctx context.Context, keys []uint32) ([]uint32, error) {
	return s.t.count(ctx, keys)
}

// Apply does a batch of operations of any kinds, concurrently. Insert, Add, Min and Max are
// InsertUnique here, but for their status.
func (s *Set) Apply(ctx context.Context, b structures.Batch) (structures.Results, error) {
	return s.t.mixed(ctx, b)
}

// Len counts the keys, by a kernel that reads the table.
func (s *Set) Len(ctx context.Context) (uint64, error) { return s.t.len(ctx) }

// Stats measures the table, by a kernel that goes over all of it, and waits for that.
func (s *Set) Stats(ctx context.Context) (Stats, error) { return s.t.stats(ctx) }

// Clear is as Map.Clear.
func (s *Set) Clear(ctx context.Context) error { return s.t.clear(ctx) }

// Flush compacts the buckets in place and gives slabs back to the pool.
func (s *Set) Flush(ctx context.Context) error { return s.t.flush(ctx) }

// Rehash moves the keys to so many buckets, at least 4; 0: as many as Options.Load asks for.
func (s *Set) Rehash(ctx context.Context, buckets int) error { return s.t.rehashTo(ctx, buckets) }

// Export returns all keys, in no particular order.
func (s *Set) Export(ctx context.Context) (keys []uint32, err error) {
	err = s.t.export(ctx, func(k, _ []uint32) bool {
		keys = append(keys, k...)
		return true
	})
	return keys, err
}

// All returns the keys as a sequence, as Map.All does.
func (s *Set) All(ctx context.Context) (iter.Seq[uint32], func() error) {
	var failure error
	keys := func(yield func(uint32) bool) {
		failure = s.t.export(ctx, func(keys, _ []uint32) bool {
			for _, k := range keys {
				if !yield(k) {
					return false
				}
			}
			return true
		})
	}
	return keys, func() error { return failure }
}

// Device describes the set to kernels, which define VKDS_SLAB_KEYS.
func (s *Set) Device() Device { return s.t.described() }

// Constants are as Map.Constants.
func (s *Set) Constants() map[string]uint32 { return s.t.constants() }

// UsedOn is as Map.UsedOn.
func (s *Set) UsedOn(stream *vk.Stream) { s.t.usedOn(stream) }

// Close frees the set's memory, and gives the slabs of a shared pool back, as Map.Close does.
func (s *Set) Close() error { return s.t.close() }
