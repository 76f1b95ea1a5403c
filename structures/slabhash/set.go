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

// Set is a hash table of keys, 30 a slab. Several goroutines may use one, as a Map. Errors are those of Map.
type Set struct{ Table }

// NewSet makes an empty set.
func NewSet(ctx context.Context, d *vk.Device, o Options) (*Set, error) {
	t, err := newTable(ctx, d, o, true)
	if err != nil {
		return nil, err
	}
	return &Set{Table{t}}, nil
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
	return s.t.update(ctx, structures.InsertUnique, keys, nil)
}

// InsertDuplicate inserts each key, however often it is there already: Inserted.
func (s *Set) InsertDuplicate(ctx context.Context, keys []uint32) ([]structures.Status, error) {
	return s.t.update(ctx, structures.InsertDuplicate, keys, nil)
}

// Contains says of each key whether it is there.
func (s *Set) Contains(ctx context.Context, keys []uint32) ([]bool, error) {
	found := make([]bool, len(keys))
	return found, s.ContainsInto(ctx, keys, found)
}

// ContainsInto is Contains into the caller's slice, as long as keys.
func (s *Set) ContainsInto(ctx context.Context, keys []uint32, found []bool) error {
	return s.t.findInto(ctx, keys, nil, found)
}

// UpdateInto does a batch of updates of one kind, InsertUnique, InsertDuplicate, Delete or DeleteAll, as
// Map.UpdateInto.
func (s *Set) UpdateInto(ctx context.Context, kind structures.Kind, keys []uint32, status []structures.Status) error {
	return s.t.updateInto(ctx, kind, keys, nil, status)
}

// Export returns all keys, in no particular order.
func (s *Set) Export(ctx context.Context) (keys []uint32, err error) {
	keys, _, err = s.t.export(ctx)
	return keys, err
}

// All returns the keys, as Map.All does the pairs.
func (s *Set) All(ctx context.Context) iter.Seq2[uint32, error] {
	return transfer.Keys(s.t.chunks(ctx, false))
}
