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

// Set is a hash table of keys. A slab holds twice as many as pairs. Errors and use by many goroutines are as for Map.
type Set[K structures.Number] struct{ table *table }

// setOf returns the public type of a table of keys.
func setOf[K structures.Number](t *table, err error) (*Set[K], error) {
	if err != nil {
		return nil, err
	}
	return &Set[K]{t}, nil
}

// open returns the set's table, or a table that is not open if s is nil or a zero value.
func (s *Set[K]) open() *table {
	if s == nil || s.table == nil {
		return bare(saved.Set[K]())
	}
	return s.table
}

// NewSet makes an empty set.
func NewSet[K structures.Number](ctx context.Context, d *vk.Device, o Options) (*Set[K], error) {
	return setOf[K](newTable(ctx, d, saved.Set[K](), o))
}

// BuildSet makes a set of keys, sized for them.
func BuildSet[K structures.Number](ctx context.Context, d *vk.Device, keys []K, o Options) (*Set[K], error) {
	s, err := NewSet[K](ctx, d, o.sizedFor(len(keys)))
	if err != nil {
		return nil, o.asked(err)
	}
	if _, err := s.Insert(ctx, keys); err != nil {
		return nil, joint.Error(pipeline.Cause(err), s.Close())
	}
	return s, nil
}

// Insert inserts each key that is not there: Inserted or Found. If keys in the batch are equal, the first one is
// Inserted.
func (s *Set[K]) Insert(ctx context.Context, keys []K) ([]structures.Status, error) {
	return update[K, uint32](ctx, s.open(), structures.InsertUnique, keys, nil)
}

// InsertDuplicate inserts each key, even if it is there: Inserted.
func (s *Set[K]) InsertDuplicate(ctx context.Context, keys []K) ([]structures.Status, error) {
	return update[K, uint32](ctx, s.open(), structures.InsertDuplicate, keys, nil)
}

// Delete removes each key once: Deleted or Absent. If keys in the batch are equal, any one of them is Deleted.
func (s *Set[K]) Delete(ctx context.Context, keys []K) ([]structures.Status, error) {
	return update[K, uint32](ctx, s.open(), structures.Delete, keys, nil)
}

// DeleteAll removes all copies of each key, and returns their numbers, as Map.DeleteAll.
func (s *Set[K]) DeleteAll(ctx context.Context, keys []K) (counts []uint32, err error) {
	return deleteAll(ctx, s.open(), keys)
}

// CountAll returns the number of copies of each key.
func (s *Set[K]) CountAll(ctx context.Context, keys []K) ([]uint32, error) {
	return countAll(ctx, s.open(), keys)
}

// Contains reports for each key whether it is there.
func (s *Set[K]) Contains(ctx context.Context, keys []K) ([]bool, error) {
	found := make([]bool, len(keys))
	return found, s.ContainsInto(ctx, keys, found)
}

// Get reports whether one key is there. It takes as long as Contains of thousands of keys.
func (s *Set[K]) Get(ctx context.Context, key K) (bool, error) {
	found := make([]bool, 1)
	err := s.ContainsInto(ctx, []K{key}, found)
	return found[0], err
}

// Put inserts one key unless it is there. It takes as long as Insert of thousands of keys.
func (s *Set[K]) Put(ctx context.Context, key K) error {
	return s.UpdateInto(ctx, structures.InsertUnique, []K{key}, nil)
}

// ContainsInto is Contains into the caller's slice, which has the length of keys.
func (s *Set[K]) ContainsInto(ctx context.Context, keys []K, found []bool) error {
	t, n := s.open(), len(keys)
	if err := cmp.Or(t.Err(), pipeline.Fits(n, "found flags", found)); err != nil {
		return err
	}
	return t.find(ctx, n, pipeline.Keys(keys, t.width), pipeline.Column{}, pipeline.Result(found))
}

// UpdateInto does a batch of updates of one kind: InsertUnique, InsertDuplicate, Delete or DeleteAll, as
// Map.UpdateInto.
func (s *Set[K]) UpdateInto(ctx context.Context, kind structures.Kind, keys []K, status []structures.Status) error {
	return updateInto[K, uint32](ctx, s.open(), kind, keys, nil, status)
}

// Apply does a batch of operations of any kinds, concurrently, as Map.Apply. The only values are the numbers that
// DeleteAll and CountAll return.
func (s *Set[K]) Apply(ctx context.Context, b structures.Batch[K, uint32]) (structures.Results[K, uint32], error) {
	return apply(ctx, s.open(), b)
}

// All returns the keys, as Map.All does the pairs.
func (s *Set[K]) All(ctx context.Context) iter.Seq2[K, error] { return transfer.Keys(s.Chunks(ctx)) }

// Chunks is All with many keys at a time, without values, in slices that are valid until the next ones come.
func (s *Set[K]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, uint32], error] {
	return chunks[K, uint32](ctx, s.open(), false)
}
