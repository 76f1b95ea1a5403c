package combine

import (
	"context"
	"io"
	"iter"

	"github.com/vkds/vkds/structures"
)

// The methods that an Ordered shares with a Dictionary. They are written out so that go doc shows them.

// Get is Find of one key.
func (o *Ordered[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	return o.dictionary().Get(ctx, key)
}

// Put is Insert of one pair.
func (o *Ordered[K, V]) Put(ctx context.Context, key K, value V) error {
	return o.dictionary().Put(ctx, key, value)
}

// Add adds a number to the value of a key, or inserts it if the key is absent, and returns the sum. If the sum isn't
// needed, InsertAdd of one key is faster: Add takes a lookup and an update.
func (o *Ordered[K, V]) Add(ctx context.Context, key K, value V) (sum V, err error) {
	return o.dictionary().Add(ctx, key, value)
}

// Min assigns a value to a key if it is less than the key's value, or the key is absent. It returns the value that the
// key has then.
func (o *Ordered[K, V]) Min(ctx context.Context, key K, value V) (V, error) {
	return o.dictionary().Min(ctx, key, value)
}

// Max is Min with the greater value.
func (o *Ordered[K, V]) Max(ctx context.Context, key K, value V) (V, error) {
	return o.dictionary().Max(ctx, key, value)
}

// Swap is Put that returns the value before, and whether the key was there.
func (o *Ordered[K, V]) Swap(ctx context.Context, key K, value V) (old V, found bool, err error) {
	return o.dictionary().Swap(ctx, key, value)
}

// CompareAndSet assigns a value to a key whose value is old, and returns whether it did. An absent key has no value.
// Floats are compared by their bits.
func (o *Ordered[K, V]) CompareAndSet(ctx context.Context, key K, old, value V) (set bool, err error) {
	return o.dictionary().CompareAndSet(ctx, key, old, value)
}

// Find returns the value of each key, 0 if the key is absent, and whether the key is there.
func (o *Ordered[K, V]) Find(ctx context.Context, keys []K) (values []V, found []bool, err error) {
	return o.dictionary().Find(ctx, keys)
}

// FindInto is Find into the caller's slices, either of which may be nil.
func (o *Ordered[K, V]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	return o.dictionary().FindInto(ctx, keys, values, found)
}

// Insert inserts each pair, or assigns the value if the key is there. Statuses are Inserted or Assigned.
func (o *Ordered[K, V]) Insert(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return o.dictionary().Insert(ctx, keys, values)
}

// InsertUnique inserts each pair whose key is not there. Statuses are Inserted or Found.
func (o *Ordered[K, V]) InsertUnique(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return o.dictionary().InsertUnique(ctx, keys, values)
}

// InsertAdd inserts each pair, or adds the value to the one that is there.
func (o *Ordered[K, V]) InsertAdd(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return o.dictionary().InsertAdd(ctx, keys, values)
}

// InsertMin inserts each pair, or assigns the value if it is less than the one that is there.
func (o *Ordered[K, V]) InsertMin(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return o.dictionary().InsertMin(ctx, keys, values)
}

// InsertMax inserts each pair, or assigns the value if it is greater than the one that is there.
func (o *Ordered[K, V]) InsertMax(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return o.dictionary().InsertMax(ctx, keys, values)
}

// Delete removes each key. Statuses are Deleted or Absent. If a key comes in several calls of a batch, the first call
// has deleted it.
func (o *Ordered[K, V]) Delete(ctx context.Context, keys []K) ([]structures.Status, error) {
	return o.dictionary().Delete(ctx, keys)
}

// UpdateInto does a batch of updates of one kind, and writes the status of each to the caller's slice. values belong to
// insertions, and are nil for Delete; status may be nil. Kinds that have no method here are passed on.
func (o *Ordered[K, V]) UpdateInto(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	return o.dictionary().UpdateInto(ctx, kind, keys, values, status)
}

// Apply does a batch of operations of any kinds. It is passed on, as one change.
func (o *Ordered[K, V]) Apply(ctx context.Context, b structures.Batch[K, V]) (r structures.Results[K, V], err error) {
	return o.dictionary().Apply(ctx, b)
}

// Len returns the number of pairs.
func (o *Ordered[K, V]) Len(ctx context.Context) (uint64, error) {
	return o.dictionary().Len(ctx)
}

// Clear removes all pairs.
func (o *Ordered[K, V]) Clear(ctx context.Context) error {
	return o.dictionary().Clear(ctx)
}

// All returns the pairs. It ends with structures.ErrChanged if the dictionary changes.
func (o *Ordered[K, V]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return o.dictionary().All(ctx)
}

// Chunks is All with many pairs at a time, in slices that are valid until the next ones come.
func (o *Ordered[K, V]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return o.dictionary().Chunks(ctx)
}

// Save writes all pairs to w, and returns the number of bytes. Any structure can load them.
func (o *Ordered[K, V]) Save(ctx context.Context, w io.Writer) (int64, error) {
	return o.dictionary().Save(ctx, w)
}

// Prepare makes all kernels that calls may need.
func (o *Ordered[K, V]) Prepare(ctx context.Context) error {
	return o.dictionary().Prepare(ctx)
}

// Close waits for the calls under way and those that wait, and closes the dictionary inside. The other methods then
// return vk.ErrClosed. If the dictionary inside can't be closed, Close returns its error, and can be called again.
func (o *Ordered[K, V]) Close() error {
	return o.dictionary().Close()
}
