// Package btree is an ordered dictionary in GPU memory that can be searched and changed at the same time. It is a
// B-link-tree of 128-byte nodes, after Awad, Ashkiani, Johnson, Farach-Colton and Owens, Engineering a High-Performance
// GPU B-Tree (2019), and chapter 3 of Awad's dissertation, Fully Concurrent GPU Data Structures (2022).
//
// Keys and values are numbers of 32 or 64 bits, of any type. No value is reserved. There are two paths for updates. The
// concurrent path runs mixed operations concurrently, from Go slices, from streams and from your own kernels. The
// batched path is for large batches: it sorts them and changes each node that they touch once, without latches.
//
// A Snapshot is the content of a tree at one time, after chapter 4 of the dissertation (a multiversion B-link-tree).
// Updates may go on while queries read a snapshot. A tree without open snapshots copies nothing for them, and runs the
// same kernels as if there were no snapshots.
package btree

import (
	"cmp"
	"context"
	"io"
	"iter"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Description is a tree as kernels see it: BTree of shaders/include/btree_node.glsl. Embed it in the push constants of
// your own kernel. InShaders says how long it is valid.
type Description struct {
	Pool  alloc.PoolDescription
	State uint64 // address of the tree's counters
	Root  uint32 // the slab of the root
}

// Tree is a B-link-tree. It is safe for many goroutines: queries run at the same time, and a call that changes the tree
// runs alone (structures.Dictionary says more). The calls of Inspect run alone, too, except for Metrics.
//
// The updates and queries are those of structures.Updates and structures.Queries. If a batch of deletions has equal
// keys, one of them is Deleted: any of them on the concurrent path, the first one on the batched path. On streams,
// Find with SortedFirst first partitions the keys by their order (primitives.Partition). So do Find with AutoOrder and
// Neighbor if that measured faster (docs/notes/measurements.md). The candidates of Count and Range are the pairs of the
// ranges. A range too large for one dispatch is not run; Candidates is then 2^63 or more. Count and Range of slices
// divide such ranges.
//
// Queries on a stream need a tree that does not change until they are done; the caller orders the work. Three kinds of
// work are ordered by the tree: the device runs them after all work that other streams have submitted, and before all
// that these submit later. If such a call must follow work that a stream has recorded but not submitted, it returns
// vk.ErrUnsubmitted. The three kinds are
//
//   - queries at a snapshot;
//   - batches of Apply with ordered queries (with a Width). All ordered queries of a mixed batch see the
//     tree at one moment, before the batch's updates, even if the batch takes several chunks. All operations of all
//     streams have a sequential order. With OwnMoments each query sees a moment of its own while the batch's updates go
//     on, which is linearizable (the concurrent benchmark of chapter 4);
//   - kernels of the caller that InShaders().On records.
//
// Other batches of Apply run concurrently with each other.
//
// While a snapshot is open, an update on a stream may need memory for versions. It then submits what the stream has
// recorded, and waits. Meanwhile Compact and Build return ErrSnapshots, Clear deletes all pairs leaf by
// leaf, and leaves that become empty are not freed. A kernel of the caller may change the tree only if InShaders().On
// records it.
type Tree[K, V structures.Number] struct {
	core    *tree
	queries ordered.Queries[K, V]
}

var _ structures.Ordered[uint32, uint64] = (*Tree[uint32, uint64])(nil)

// of returns the public type of a tree.
func of[K, V structures.Number](t *tree, err error) (*Tree[K, V], error) {
	if err != nil {
		return nil, err
	}
	return &Tree[K, V]{core: t, queries: ordered.Queries[K, V]{Reader: t.reader}}, nil
}

// open returns t, or a tree that is not open if t is nil or a zero value.
func (t *Tree[K, V]) open() *Tree[K, V] {
	if t == nil || t.core == nil {
		t, _ = of[K, V](bare(saved.Pairs[K, V]()), nil)
	}
	return t
}

// New makes an empty tree.
//
// Errors: *vk.OptionError, *vk.OutOfMemoryError, and *structures.CapacityError, before anything is allocated,
// if there is too little memory for the options.
func New[K, V structures.Number](ctx context.Context, d *vk.Device, o Options) (*Tree[K, V], error) {
	return of[K, V](makeTree(ctx, d, saved.Pairs[K, V](), o))
}

// Build makes a tree of pairs, in any order. If keys are equal, the last one counts. The nodes are built bottom-up,
// each with Fill of its slots in use, and are stored level by level.
//
// Errors: *structures.LengthError, *structures.CountError for more than 2^30 pairs, and those of New.
func Build[K, V structures.Number](ctx context.Context, d *vk.Device, keys []K, values []V,
	o Options) (*Tree[K, V], error) {
	if len(values) != len(keys) {
		return nil, &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
	}
	columns := saved.Pairs[K, V]()
	w := columns.Width()
	return of[K, V](build(ctx, d, columns, len(keys), pipeline.Keys(keys, w), pipeline.Values(values, w), o))
}

// Load makes a tree from the file of any structure or of the command vkds. It reads r to its end. The types of keys and
// values must be those of the file, or wider (structures.TypeError). An Options.Fill of 0 is the Fill of the saved
// tree. The values of a set become 0.
//
// Errors: *structures.SavedError, also if keys have several values; r's own; and those of New and of Insert, without
// the PendingError around them.
func Load[K, V structures.Number](ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Tree[K, V], error) {
	return of[K, V](load(ctx, d, r, saved.Pairs[K, V](), o))
}

// Reserve makes room for n pairs in all: until the tree has n pairs, the pool doesn't grow, whatever the keys, their
// order and the path of the updates. A batch counts as if all of its keys were new. If others share the pool, they may
// use the room, too. If there is room already, Reserve does nothing. It waits for the streams that use the tree.
//
// Errors: vk.ErrUnsubmitted if a stream has recorded work on the tree and not submitted it, *vk.OptionError,
// and *structures.CapacityError, before anything is allocated.
func (t *Tree[K, V]) Reserve(ctx context.Context, n int) error {
	return t.open().core.Reserve(ctx, n)
}

// Compact rebuilds the tree so that each node has a share fill of its slots in use, above 0 and up to 1. If fill is 0,
// it is Options.Fill. Compact removes empty leaves and erased slots, and stores the nodes level by level, as Build
// does. If the nodes need far less memory than the pool has, the pool is replaced by a smaller one, unless others share
// it. Compact waits for the streams that use the tree. While it runs, it takes 8 bytes of device memory for each pair
// and about 40 for each leaf, at 64 bits 16 and 50.
//
// Errors: *vk.OptionError, *vk.OutOfMemoryError, *vk.LimitError if there is no room for the nodes, ErrSnapshots,
// vk.ErrUnsubmitted if a stream has recorded work on the tree and not submitted it, *structures.CountError for more
// than 2^31 pairs, *CorruptError, the context's. After an error the tree is unchanged.
func (t *Tree[K, V]) Compact(ctx context.Context, fill float64) error {
	return t.open().core.Compact(ctx, fill)
}

// Insert inserts each pair, or assigns the value to the key that is there. Statuses are Inserted or Assigned.
// structures.Updates describes equal keys in a batch and the errors.
func (t *Tree[K, V]) Insert(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.update(ctx, structures.Insert, keys, values)
}

// InsertUnique inserts each pair whose key is not there. Statuses are Inserted or Found.
func (t *Tree[K, V]) InsertUnique(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.update(ctx, structures.InsertUnique, keys, values)
}

// InsertAdd inserts each pair, or adds the value to the one that is there. structures.Updates says how integers wrap
// and how floats are added.
func (t *Tree[K, V]) InsertAdd(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.update(ctx, structures.InsertAdd, keys, values)
}

// InsertMin inserts each pair, or assigns the value if it is less than the one that is there.
func (t *Tree[K, V]) InsertMin(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.update(ctx, structures.InsertMin, keys, values)
}

// InsertMax inserts each pair, or assigns the value if it is greater than the one that is there.
func (t *Tree[K, V]) InsertMax(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return t.update(ctx, structures.InsertMax, keys, values)
}

// Delete removes each key. Statuses are Deleted or Absent.
func (t *Tree[K, V]) Delete(ctx context.Context, keys []K) ([]structures.Status, error) {
	return t.update(ctx, structures.Delete, keys, nil)
}

// Find returns the value of each key, 0 if the key is absent, and whether the key is there.
func (t *Tree[K, V]) Find(ctx context.Context, keys []K) (values []V, found []bool, err error) {
	return t.open().queries.Find(ctx, keys)
}

// Get returns the value of one key, and whether the key is there. It takes as long as Find of thousands of keys.
func (t *Tree[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	return t.open().queries.Get(ctx, key)
}

// Put inserts one pair, or assigns the value to the key that is there. It takes as long as Insert of thousands.
func (t *Tree[K, V]) Put(ctx context.Context, key K, value V) error {
	return t.UpdateInto(ctx, structures.Insert, []K{key}, []V{value}, nil)
}

// FindInto is Find into the caller's slices. values may be keys itself.
func (t *Tree[K, V]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	return t.open().queries.FindInto(ctx, keys, values, found)
}

// Apply does a batch of operations of any kinds. structures.Batch says in which order they take effect.
func (t *Tree[K, V]) Apply(ctx context.Context, b structures.Batch[K, V]) (structures.Results[K, V], error) {
	core, r := t.open().core, pipeline.ResultsOf(b)
	return pipeline.MadeResults(r, applyInto(ctx, core, b, &r))
}

// applyInto writes the results of a mixed batch to slices that have its length.
func applyInto[K, V structures.Number](ctx context.Context, core *tree, b structures.Batch[K, V],
	into *structures.Results[K, V]) error {
	err := cmp.Or(core.Err(), pipeline.Lengths(b, false))
	if err == nil {
		err = checkMixed(b.Kinds, b.Highs != nil, b.Width)
	}
	if err != nil {
		return err
	}
	pairs := &ordered.Pairs[K, V]{Width: core.width}
	offsets, err := core.mixed(ctx, request{
		Operations: pipeline.MixedOf(b, into, core.width), highs: pipeline.Keys(b.Highs, core.width), width: b.Width,
		moments: b.OwnMoments, outKeys: pipeline.KeyResults(into.Keys, core.width), pairs: pairs,
	})
	if offsets != nil {
		into.Ranges = structures.Ranges[K, V]{Offsets: offsets, Keys: pairs.Keys, Values: pairs.Values}
	}
	return err
}

// UpdateInto does a batch of updates of one kind, and writes the status of each to the caller's slice. values belong to
// insertions, and are nil for Delete. If status is nil, that saves a sort on the batched path.
func (t *Tree[K, V]) UpdateInto(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	core := t.open().core
	if err := cmp.Or(core.Err(), checkUpdate(kind)); err != nil {
		return err
	}
	o, err := pipeline.UpdatesOf(kind, keys, values, status, core.width)
	if err != nil {
		return err
	}
	return core.update(ctx, request{Operations: o})
}

func (t *Tree[K, V]) update(ctx context.Context, kind structures.Kind, keys []K,
	values []V) ([]structures.Status, error) {
	status := make([]structures.Status, len(keys))
	return pipeline.Made(status, t.UpdateInto(ctx, kind, keys, values, status))
}

// Len returns the number of pairs. It counts those of all leaves.
func (t *Tree[K, V]) Len(ctx context.Context) (uint64, error) {
	return t.open().core.reader.Total(ctx)
}

// Clear removes all pairs, and keeps the memory. It waits for the streams that use the tree. If it fails while a
// snapshot is open, it returns a *structures.PendingError, and may have removed some of the pairs. Other errors:
// vk.ErrUnsubmitted if a stream has recorded work on the tree and not submitted it, the context's.
func (t *Tree[K, V]) Clear(ctx context.Context) error {
	return t.open().core.Clear(ctx)
}

// All returns the pairs in key order. An error ends the iteration: structures.ErrChanged if the pairs changed before
// the last part was read, and those of Range.
func (t *Tree[K, V]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return t.open().queries.All(ctx)
}

// Chunks is All with many pairs at a time, in slices that are valid until the next ones come.
func (t *Tree[K, V]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return t.open().queries.Chunks(ctx)
}

// Save writes all pairs and the options that Load needs to w, and returns the number of bytes. The file names the types
// of keys and values. Errors: w's, and those of All.
func (t *Tree[K, V]) Save(ctx context.Context, w io.Writer) (int64, error) {
	return t.open().core.Save(ctx, w)
}

// Prepare makes all kernels that calls may need, so that no later call makes one. A driver may take seconds for the
// kernels of the first calls.
func (t *Tree[K, V]) Prepare(ctx context.Context) error {
	return t.open().core.Prepare(ctx)
}

// Close waits for the calls that are running, and frees the memory after the work that streams have recorded or
// submitted. Further calls do nothing.
//
// If others share the pool, Close gives the nodes back, and waits for the streams for that. If it returns
// vk.ErrUnsubmitted, because a stream has recorded work on the tree and not submitted it, or *vk.OutOfMemoryError, the
// tree is still open.
func (t *Tree[K, V]) Close() error {
	return t.open().core.Close()
}

// Count returns the number of keys in each range.
func (t *Tree[K, V]) Count(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	return t.open().queries.Count(ctx, ranges)
}

// Range returns the pairs of each range, in key order.
func (t *Tree[K, V]) Range(ctx context.Context, ranges []structures.Range[K]) (structures.Ranges[K, V], error) {
	return t.open().queries.Range(ctx, ranges)
}

// RangeInto is Range into the caller's slices. It makes new slices if those have no room.
func (t *Tree[K, V]) RangeInto(ctx context.Context, ranges []structures.Range[K],
	into *structures.Ranges[K, V]) error {
	return t.open().queries.RangeInto(ctx, ranges, into)
}

// Neighbor finds the neighbor of each key in one direction: structures.Successor, Predecessor, Floor or Ceil.
func (t *Tree[K, V]) Neighbor(ctx context.Context, to structures.Direction,
	keys []K) (structures.Neighbors[K, V], error) {
	return t.open().queries.Neighbor(ctx, to, keys)
}

// Rank returns for each key the number of keys that are less. The key itself need not be there.
func (t *Tree[K, V]) Rank(ctx context.Context, keys []K) ([]uint32, error) {
	return t.open().queries.Rank(ctx, keys)
}

// Select returns the pair of each rank. The least key has rank 0.
func (t *Tree[K, V]) Select(ctx context.Context, ranks []uint32) (structures.Neighbors[K, V], error) {
	return t.open().queries.Select(ctx, ranks)
}

// Ascend returns the pairs of a range in key order. Errors are those of All.
func (t *Tree[K, V]) Ascend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return t.open().queries.Ascend(ctx, r)
}

// Descend returns the pairs of a range, the greatest key first. Errors are those of All.
func (t *Tree[K, V]) Descend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return t.open().queries.Descend(ctx, r)
}

// DeleteRange removes the keys of each range, one range after the other, and returns how many it removed for each. If
// ranges overlap, the first one counts the keys that they share. If it fails, it returns a *structures.PendingError
// with the number of ranges that may still have keys, and the counts of the keys that it did remove. The same call
// again removes the others.
func (t *Tree[K, V]) DeleteRange(ctx context.Context, ranges []structures.Range[K]) (counts []uint32, err error) {
	return t.open().core.deleteRange(ctx, ordered.Words(ranges))
}
