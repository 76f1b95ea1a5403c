package slabhash

import (
	"context"
	"iter"

	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/joint"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/vk"
)

// Set is a hash table of keys, twice as many a slab. Several goroutines may use one, as a Map. Errors are those of Map.
type Set[K structures.Number] struct {
	table anyTable
	of    setOf[K]
}

// NewSet makes an empty set.
func NewSet[K structures.Number](ctx context.Context, d *vk.Device, o Options) (*Set[K], error) {
	if structures.WidthOf[K]() == structures.Bits64 {
		return setOverTable[K](newTable[uint64](ctx, d, o, true))
	}
	return setOverTable[K](newTable[uint32](ctx, d, o, true))
}

// setOverTable makes a set of a table of words.
func setOverTable[K structures.Number, W structures.Word](t *table[W], err error) (*Set[K], error) {
	if err != nil {
		return nil, err
	}
	t.columns = saved.Set[K]()
	return &Set[K]{t, setOver[K, W]{t}}, nil
}

// open is the set itself, or, for a nil pointer or a zero value, one that is not open.
func (s *Set[K]) open() *Set[K] {
	if s != nil && s.of != nil {
		return s
	}
	if structures.WidthOf[K]() == structures.Bits64 {
		s, _ = setOverTable[K](&table[uint64]{}, nil)
	} else {
		s, _ = setOverTable[K](&table[uint32]{}, nil)
	}
	return s
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

// Insert inserts each key that is not there: Inserted or Found. Of equal keys in the batch the first one is Inserted.
func (s *Set[K]) Insert(ctx context.Context, keys []K) ([]structures.Status, error) {
	return s.open().of.update(ctx, structures.InsertUnique, keys)
}

// InsertDuplicate inserts each key, however often it is there already: Inserted.
func (s *Set[K]) InsertDuplicate(ctx context.Context, keys []K) ([]structures.Status, error) {
	return s.open().of.update(ctx, structures.InsertDuplicate, keys)
}

// Delete removes each key once: Deleted or Absent. Of equal keys in the batch any may be the one Deleted.
func (s *Set[K]) Delete(ctx context.Context, keys []K) ([]structures.Status, error) {
	return s.open().of.update(ctx, structures.Delete, keys)
}

// DeleteAll removes each key as often as it is there, and returns how often that was, as Map.DeleteAll.
func (s *Set[K]) DeleteAll(ctx context.Context, keys []K) (counts []uint32, err error) {
	return s.open().of.deleteAll(ctx, keys)
}

// CountAll returns how often each key is there.
func (s *Set[K]) CountAll(ctx context.Context, keys []K) ([]uint32, error) {
	return s.open().of.countAll(ctx, keys)
}

// Contains says of each key whether it is there.
func (s *Set[K]) Contains(ctx context.Context, keys []K) ([]bool, error) {
	found := make([]bool, len(keys))
	return found, s.ContainsInto(ctx, keys, found)
}

// ContainsInto is Contains into the caller's slice, as long as keys.
func (s *Set[K]) ContainsInto(ctx context.Context, keys []K, found []bool) error {
	return s.open().of.containsInto(ctx, keys, found)
}

// UpdateInto does a batch of updates of one kind, InsertUnique, InsertDuplicate, Delete or DeleteAll, as
// Map.UpdateInto.
func (s *Set[K]) UpdateInto(ctx context.Context, kind structures.Kind, keys []K, status []structures.Status) error {
	return s.open().of.updateInto(ctx, kind, keys, status)
}

// Apply does a batch of operations of any kinds, concurrently, as Map.Apply. There are no values but the numbers that
// DeleteAll and CountAll result in.
func (s *Set[K]) Apply(ctx context.Context, b structures.Batch[K, uint32]) (structures.Results[K, uint32], error) {
	return s.open().of.apply(ctx, b)
}

// ApplyInto is Apply into the caller's slices, as Map.ApplyInto.
func (s *Set[K]) ApplyInto(ctx context.Context, b structures.Batch[K, uint32],
	into *structures.Results[K, uint32]) error {
	return s.open().of.applyInto(ctx, b, into)
}

// Export returns all keys, in no particular order.
func (s *Set[K]) Export(ctx context.Context) (keys []K, err error) { return s.open().of.export(ctx) }

// All returns the keys, as Map.All does the pairs.
func (s *Set[K]) All(ctx context.Context) iter.Seq2[K, error] { return s.open().of.all(ctx) }

// Chunks is All with many keys at a time, without values, in slices that are valid until the next ones come.
func (s *Set[K]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, uint32], error] {
	return s.open().of.chunks(ctx)
}
