package host

import (
	"context"
	"io"
	"iter"

	"github.com/vkds/vkds/structures"
)

// Map is a hash table. The zero value is not open; its methods return vk.ErrNotOpen.
type Map[K, V structures.Number] struct{ front front[K, V] }

var _ structures.Dictionary[uint32, uint64] = (*Map[uint32, uint64])(nil)

// NewMap makes an empty map.
func NewMap[K, V structures.Number]() *Map[K, V] { return &Map[K, V]{open[K, V](false)} }

// LoadMap makes a map of a dictionary that Save of any structure, or the vkds tool, has written. Errors:
// *structures.SavedError, also if keys have several values; those of r; the context's.
func LoadMap[K, V structures.Number](ctx context.Context, r io.Reader) (*Map[K, V], error) {
	f, err := load[K, V](ctx, r, false)
	if err != nil {
		return nil, err
	}
	return &Map[K, V]{f}, nil
}

// open returns the front, or one that is not open.
func (m *Map[K, V]) open() front[K, V] {
	if m == nil {
		return front[K, V]{}
	}
	return m.front
}

// Insert inserts each pair, or assigns the value to the key that is there. Statuses are Inserted or Assigned.
func (m *Map[K, V]) Insert(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return m.open().update(ctx, structures.Insert, keys, values)
}

// InsertUnique inserts each pair whose key is not there. Statuses are Inserted or Found.
func (m *Map[K, V]) InsertUnique(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return m.open().update(ctx, structures.InsertUnique, keys, values)
}

// InsertAdd inserts each pair, or adds the value to the one that is there. Floats are added in the batch's order.
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

// UpdateInto does a batch of updates of one kind, and writes the status of each to the caller's slice. values belong to
// insertions, and are nil for Delete; status may be nil.
func (m *Map[K, V]) UpdateInto(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	return m.open().updateInto(ctx, kind, keys, values, status)
}

// Apply does a batch of operations of any kinds, in their order.
func (m *Map[K, V]) Apply(ctx context.Context, b structures.Batch[K, V]) (structures.Results[K, V], error) {
	return m.open().apply(ctx, b)
}

// Find returns the value of each key, 0 if the key is absent, and whether the key is there.
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
	return m.open().pairs(ctx, structures.AllKeys[K](), false)
}

// Chunks is All with many pairs at a time, in slices that are valid until the next ones come.
func (m *Map[K, V]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return m.open().chunks(ctx, structures.AllKeys[K](), false)
}

// Len returns the number of pairs.
func (m *Map[K, V]) Len(ctx context.Context) (uint64, error) {
	return m.open().len(ctx)
}

// Reserve makes room for n pairs in an empty map, so that insertions do not grow it. In a map that has pairs it may do
// nothing.
func (m *Map[K, V]) Reserve(ctx context.Context, n int) error {
	return m.open().opened().reserve(ctx, n)
}

// Clear removes all pairs.
func (m *Map[K, V]) Clear(ctx context.Context) error {
	return m.open().opened().clear(ctx)
}

// Save writes all pairs to w, and returns the number of bytes. Every structure can load the file, as can the vkds tool:
// there the map is a slabhash. Errors: w's, the context's.
func (m *Map[K, V]) Save(ctx context.Context, w io.Writer) (int64, error) {
	return m.open().save(ctx, w, "slabhash")
}

// Prepare does nothing, since there are no kernels to make.
func (m *Map[K, V]) Prepare(ctx context.Context) error {
	if err := m.open().opened().gate.Err(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// Close frees the memory. The other methods then return vk.ErrClosed.
func (m *Map[K, V]) Close() error {
	return m.open().opened().close()
}
