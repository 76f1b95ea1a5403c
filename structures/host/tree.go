package host

import (
	"context"
	"io"
	"iter"

	"github.com/vkds/vkds/structures"
)

// Tree keeps its keys in order, in a B-tree (github.com/tidwall/btree). The zero value is not open; its methods return
// vk.ErrNotOpen.
type Tree[K, V structures.Number] struct{ front front[K, V] }

var _ structures.Ordered[uint32, uint64] = (*Tree[uint32, uint64])(nil)

// NewTree makes an empty tree.
func NewTree[K, V structures.Number]() *Tree[K, V] { return &Tree[K, V]{open[K, V](true)} }

// LoadTree makes a tree of a dictionary that Save of any structure, or the vkds tool, has written. Errors:
// *structures.SavedError, also if keys have several values; those of r; the context's.
func LoadTree[K, V structures.Number](ctx context.Context, r io.Reader) (*Tree[K, V], error) {
	f, err := load[K, V](ctx, r, true)
	if err != nil {
		return nil, err
	}
	return &Tree[K, V]{f}, nil
}

// open returns the front, or one that is not open.
func (t *Tree[K, V]) open() front[K, V] {
	if t == nil {
		return front[K, V]{}
	}
	return t.front
}

// Insert inserts each pair, or assigns the value to the key that is there. Statuses are Inserted or Assigned.
func (t *Tree[K, V]) Insert(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.open().update(ctx, structures.Insert, keys, values)
}

// InsertUnique inserts each pair whose key is not there. Statuses are Inserted or Found.
func (t *Tree[K, V]) InsertUnique(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.open().update(ctx, structures.InsertUnique, keys, values)
}

// InsertAdd inserts each pair, or adds the value to the one that is there. Floats are added in the batch's order.
func (t *Tree[K, V]) InsertAdd(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.open().update(ctx, structures.InsertAdd, keys, values)
}

// InsertMin inserts each pair, or assigns the value if it is less than the one that is there.
func (t *Tree[K, V]) InsertMin(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.open().update(ctx, structures.InsertMin, keys, values)
}

// InsertMax inserts each pair, or assigns the value if it is greater than the one that is there.
func (t *Tree[K, V]) InsertMax(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.open().update(ctx, structures.InsertMax, keys, values)
}

// Delete removes each key. Statuses are Deleted or Absent.
func (t *Tree[K, V]) Delete(ctx context.Context, keys []K) ([]structures.Status, error) {
	return t.open().update(ctx, structures.Delete, keys, nil)
}

// UpdateInto does a batch of updates of one kind, and writes the status of each to the caller's slice. values belong to
// insertions, and are nil for Delete; status may be nil.
func (t *Tree[K, V]) UpdateInto(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	return t.open().updateInto(ctx, kind, keys, values, status)
}

// Apply does a batch of operations of any kinds, in their order. Ordered queries see what was there before the batch,
// unless structures.Batch.OwnMoments is set.
func (t *Tree[K, V]) Apply(ctx context.Context, b structures.Batch[K, V]) (structures.Results[K, V], error) {
	return t.open().apply(ctx, b)
}

// Find returns the value of each key, 0 if the key is absent, and whether the key is there.
func (t *Tree[K, V]) Find(ctx context.Context, keys []K) (values []V, found []bool, err error) {
	return t.open().find(ctx, keys)
}

// Get returns the value of one key, 0 if the key is absent, and whether the key is there.
func (t *Tree[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	return t.open().get(ctx, key)
}

// Put inserts one pair, or assigns the value to the key that is there.
func (t *Tree[K, V]) Put(ctx context.Context, key K, value V) error {
	return t.open().put(ctx, key, value)
}

// FindInto is Find into the caller's slices, either of which may be nil.
func (t *Tree[K, V]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	return t.open().findInto(ctx, keys, values, found)
}

// Range returns the pairs of each range, in key order.
func (t *Tree[K, V]) Range(ctx context.Context, ranges []structures.Range[K]) (r structures.Ranges[K, V], err error) {
	err = t.open().rangeInto(ctx, ranges, &r)
	return r, err
}

// RangeInto is Range into the slices of into, or into new ones if those have no room.
func (t *Tree[K, V]) RangeInto(ctx context.Context, ranges []structures.Range[K], into *structures.Ranges[K, V]) error {
	return t.open().rangeInto(ctx, ranges, into)
}

// Count returns how many keys each range has.
func (t *Tree[K, V]) Count(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	return t.open().count(ctx, ranges)
}

// Rank returns for each key how many keys are less.
func (t *Tree[K, V]) Rank(ctx context.Context, keys []K) ([]uint32, error) {
	return t.open().rank(ctx, keys)
}

// Select returns the pair at each rank.
func (t *Tree[K, V]) Select(ctx context.Context, ranks []uint32) (structures.Neighbors[K, V], error) {
	return t.open().selected(ctx, ranks)
}

// Neighbor returns a neighbor of each key. Further error: *vk.OptionError.
func (t *Tree[K, V]) Neighbor(ctx context.Context, to structures.Direction,
	keys []K) (structures.Neighbors[K, V], error) {
	return t.open().neighbors(ctx, to, keys)
}

// DeleteRange removes the keys of each range, one range after the other, and returns how many it removed for each.
func (t *Tree[K, V]) DeleteRange(ctx context.Context, ranges []structures.Range[K]) (counts []uint32, err error) {
	return t.open().deleteRange(ctx, ranges)
}

// Ascend returns the pairs of a range in key order. It ends with structures.ErrChanged if the tree changes.
func (t *Tree[K, V]) Ascend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return t.open().pairs(ctx, r, false)
}

// Descend is Ascend from the greatest key to the least.
func (t *Tree[K, V]) Descend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return t.open().pairs(ctx, r, true)
}

// All returns the pairs, in key order. It ends with structures.ErrChanged if the tree changes.
func (t *Tree[K, V]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return t.open().pairs(ctx, structures.AllKeys[K](), false)
}

// Chunks is All with many pairs at a time, in slices that are valid until the next ones come.
func (t *Tree[K, V]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return t.open().chunks(ctx, structures.AllKeys[K](), false)
}

// Len returns the number of pairs.
func (t *Tree[K, V]) Len(ctx context.Context) (uint64, error) {
	return t.open().len(ctx)
}

// Clear removes all pairs.
func (t *Tree[K, V]) Clear(ctx context.Context) error {
	return t.open().opened().clear(ctx)
}

// Save writes all pairs to w, and returns the number of bytes. Every structure can load the file, as can the vkds tool:
// there the tree is a btree. Errors: w's, the context's.
func (t *Tree[K, V]) Save(ctx context.Context, w io.Writer) (int64, error) {
	return t.open().save(ctx, w, "btree")
}

// Copy returns a tree with the pairs that t has now. It takes the same time for any number of pairs: the two share
// memory, and what later calls change is copied first. Close it like any other.
func (t *Tree[K, V]) Copy(ctx context.Context) (*Tree[K, V], error) {
	c, err := t.open().opened().copied(ctx)
	if err != nil {
		return nil, err
	}
	return &Tree[K, V]{front[K, V]{c}}, nil
}

// Prepare does nothing, since there are no kernels to make.
func (t *Tree[K, V]) Prepare(ctx context.Context) error {
	if err := t.open().opened().gate.Err(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// Close frees the memory. The other methods then return vk.ErrClosed.
func (t *Tree[K, V]) Close() error {
	return t.open().opened().close()
}
