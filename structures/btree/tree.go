// Package btree is an ordered dictionary in GPU memory that can be searched and changed at the same time: a B-link-tree
// of 128-byte nodes, after Awad, Ashkiani, Johnson, Farach-Colton and Owens, Engineering a High-Performance GPU B-Tree
// (2019), and chapter 3 of Awad's dissertation, Fully Concurrent GPU Data Structures (2022).
//
// Keys and values are numbers of 32 or 64 bits, of any type, and none of them is reserved. Updates come in by two
// ways. The concurrent one does mixed operations concurrently, from Go slices, from streams and from other people's
// kernels. The batched one takes large batches: it sorts them and changes each node that they touch once, without
// latches.
//
// A Snapshot is what a tree held at one time, after chapter 4 of the dissertation (a multiversion B-link-tree). Queries
// at a snapshot see that while updates go on. A tree without open snapshots copies nothing for them, and runs the same
// kernels as if there were no snapshots.
package btree

import (
	"context"
	"io"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/ordered"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/vk"
)

// Device is a tree as kernels see it: BTree of shaders/include/btree_node.glsl. Embed it in the push constants of a
// kernel of your own. It holds until the next call on the tree that may give it more memory: any update from Go slices,
// Finish, Compact, Clear, Close. UsedOn keeps those back from the memory.
type Device struct {
	Pool  alloc.DevicePool
	State uint64 // address of the tree's counters
	Root  uint32 // its slab
}

// Tree is a B-link-tree. Several goroutines may use one: queries run beside one another, and what changes it runs alone
// (structures.Dictionary says more); so do Len, Stats, Check and Export.
//
// Its updates and queries are those of structures.Updates and structures.Queries. Of equal keys in a batch of deletions
// any may be the one Deleted on the concurrent path, and the first is on the batched one. Of queries on streams, FindOn
// with SortedFirst, and where it measured faster with AutoOrder (docs/benchmarks.md), and NeighborOn bring the keys
// into parts in order first (primitives.Partition). Candidates of CountOn and RangeOn are the pairs themselves; where
// one range has so many neighbouring leaves that a dispatch would take too long, they are said to be 2^63 and more, and
// it isn't done: Count and Range cut such ranges up.
//
// Nothing may change the tree until queries on a stream are done; the caller orders them. Three kinds of work order
// themselves: the device runs them after what other streams have submitted, and before what these submit next. A call
// that must follow work that a stream has recorded and not submitted returns vk.ErrUnsubmitted. The three are
//
//   - queries at a snapshot;
//   - batches of ApplyOn and Apply that ask for order (with a Width). All queries for order of a mixed batch see one
//     moment, before its updates, however many chunks it takes, and all operations of all streams have a sequential
//     order. With OwnMoments each query sees a moment of its own while the batch's updates go on, which is linearizable
//     (the concurrent benchmark of chapter 4);
//   - kernels of the caller that On records.
//
// Other batches of ApplyOn run beside one another.
//
// While a snapshot is open, an update on a stream may need memory for versions: then it submits what the stream has
// recorded, and waits. Compact and BuildOn return *structures.SnapshotsError, Clear deletes all pairs leaf by leaf, and
// leaves that deletions empty stay where they are. A kernel of the caller may change the tree only as On records it.
type Tree[K, V structures.Number] struct {
	core    *tree
	queries ordered.Queries[K, V]
}

var (
	_ structures.Ordered[uint32, uint64] = (*Tree[uint32, uint64])(nil)
	_ structures.ConcurrentOnStream      = (*Tree[uint32, uint64])(nil)
	_ structures.OrderedOnStream         = (*Tree[uint32, uint64])(nil)
	_ structures.InShaders[Device]       = (*Tree[uint32, uint64])(nil)
)

// of is the front of a tree.
func of[K, V structures.Number](t *tree, err error) (*Tree[K, V], error) {
	if err != nil {
		return nil, err
	}
	return &Tree[K, V]{core: t, queries: ordered.Queries[K, V]{Reader: t.reader}}, nil
}

// open is the tree itself, or, for a nil pointer or a zero value, one that is not open.
func (t *Tree[K, V]) open() *Tree[K, V] {
	if t == nil || t.core == nil {
		t, _ = of[K, V](bare(saved.Pairs[K, V]()), nil)
	}
	return t
}

// New makes an empty tree. Errors: *structures.OptionError; *structures.CapacityError, before anything is allocated,
// where there is no memory for what the options ask for; *vk.OutOfMemoryError.
func New[K, V structures.Number](ctx context.Context, d *vk.Device, o Options) (*Tree[K, V], error) {
	return of[K, V](makeTree(ctx, d, saved.Pairs[K, V](), o))
}

// Build makes a tree of pairs, in any order; of equal keys the last one counts. Its nodes are made bottom-up, each with
// Fill of its slots in use, and stand in memory level by level. Errors: *structures.LengthError, *structures.CountError
// for more than 2^30 pairs, and those of New.
func Build[K, V structures.Number](ctx context.Context, d *vk.Device, keys []K, values []V,
	o Options) (*Tree[K, V], error) {
	if len(values) != len(keys) {
		return nil, &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
	}
	columns := saved.Pairs[K, V]()
	w := columns.Width()
	return of[K, V](build(ctx, d, columns, len(keys), pipeline.Keys(keys, w), pipeline.Values(values, w), o))
}

// Load makes a tree of what any structure has saved, or vkds has, to the end of r: of the types that were saved, or of
// wider ones (structures.TypeError). An Options.Fill of 0 is what a saved tree had; the values of a set are 0. Errors:
// *structures.SavedError, also where keys have several values; r's own; those of New and of Insert, without the
// PendingError around them.
func Load[K, V structures.Number](ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Tree[K, V], error) {
	return of[K, V](load(ctx, d, r, saved.Pairs[K, V](), o))
}

// Export returns all pairs in key order. Besides what it returns it takes 8 bytes of device memory a pair and some 40 a
// leaf; All takes less, and is slower. Errors: *vk.OutOfMemoryError; *structures.CountError for more than 2^31 pairs,
// or so many leaves that are hardly filled.
func (t *Tree[K, V]) Export(ctx context.Context) (keys []K, values []V, err error) {
	core := t.open().core
	to := &ordered.Pairs[K, V]{Width: core.width}
	err = core.export(ctx, to)
	return to.Keys, to.Values, err
}

// UpdateOn records a batch of structures.Insert, InsertUnique, InsertAdd, InsertMin, InsertMax or Delete from device
// buffers on a stream, and does not wait unless the tree may need more memory. The batch is sorted, and each node that
// it touches is changed once, without latches: nothing else may work on the tree meanwhile. The result is that of the
// operations one after the other, and the same in every run. Without a Status it is faster.
//
// Room is made for Count operations, also where a DeviceCount says that there are fewer: one that is far too large has
// the tree counted more often, for which UpdateOn waits before it takes more memory.
//
// Leaves that a deletion leaves without pairs go back to the pool, but for the first one beneath each parent.
//
// Errors: *structures.KindError, *structures.LengthError, *structures.CountError, *structures.LimitError,
// *vk.OutOfMemoryError, vk.ErrUnsubmitted (Finish), vk.ErrClosed, and what making a kernel may return. Then nothing of
// it will run: what is refused before its first command leaves the stream as it was, and after that the stream drops
// its batch.
func (t *Tree[K, V]) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, u structures.DeviceBatch) error {
	return t.open().core.UpdateOn(ctx, s, kind, u)
}

// ApplyOn records a batch of operations of one kind, or structures.Mixed, on a stream and does not wait: Insert,
// InsertUnique, InsertAdd, InsertMin, InsertMax, Delete, Find, and those that ask for order. Updates of one key stand
// in each other's way: those of a key that takes much of the batch are better done by UpdateOn. Batches on several
// streams may work on the tree at the same time. What asks for order sees, in a mixed batch, what was there before it
// (Apply). If the pool is full, operations are left pending: give the batch to Finish once no stream works on the tree.
//
// Errors: *structures.KindError, *structures.LengthError, vk.ErrUnsubmitted (Tree), vk.ErrClosed.
func (t *Tree[K, V]) ApplyOn(s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return t.open().core.ApplyOn(s, kind, b)
}

// Finish waits for the stream, and has what is pending of a batch done: it gives the tree more memory and dispatches
// again, until b.Left is 0. No other stream may work on the tree: Finish waits for those that do, and where one has
// work recorded that was not submitted, it is vk.ErrUnsubmitted. Errors: *structures.PendingError around what stopped
// it: that, *structures.LimitError, *vk.OutOfMemoryError, *structures.StuckError, the context's.
func (t *Tree[K, V]) Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return t.open().core.Finish(ctx, s, kind, b)
}

// BuildOn records that the tree becomes one of pairs in device buffers, in any order, whatever is in it; of equal keys
// the last one counts. What was recorded in the stream before comes first; nothing else may run that uses the tree. If
// the tree needs more memory, BuildOn waits for the stream. Status is not written. Errors: vk.ErrClosed,
// *structures.LengthError, *structures.CountError for more than 2^30 pairs, *vk.OutOfMemoryError,
// *structures.LimitError, vk.ErrUnsubmitted (Finish), and what making a kernel may return. After each of them nothing
// of it will run: what is refused before its first command leaves the stream as it was, and after that the stream drops
// its batch.
func (t *Tree[K, V]) BuildOn(ctx context.Context, s *vk.Stream, u structures.DeviceBatch) error {
	return t.open().core.BuildOn(ctx, s, u)
}

// WindowOn records the writing of the first pairs of ranges on a stream and does not wait. The tree must not change
// until it is done. Where it measured faster, this, CountOn and RangeOn bring the ranges into the order of their first
// keys, as FindOn does by AutoOrder. Errors as FindOn's.
func (t *Tree[K, V]) WindowOn(s *vk.Stream, w structures.DeviceWindow) error {
	return t.open().core.WindowOn(s, w)
}

// Reserve makes room for n pairs in all: up to there the pool doesn't grow, whatever keys insertions bring, in whatever
// order and by whatever path. A batch counts as if the tree had none of its keys. Of a pool that others share it is
// room that they may take, too. Less than there is room for does nothing. It waits for the streams that work on the
// tree. Errors: vk.ErrUnsubmitted where one has work recorded that was not submitted; *structures.OptionError;
// *structures.CapacityError, before anything is allocated.
func (t *Tree[K, V]) Reserve(ctx context.Context, n int) error {
	return t.open().core.Reserve(ctx, n)
}

// Grow is for who works on the tree by kernels of one's own, once these have ended (Device): it has so many nodes of
// the pool free, and gives nodes that are in no parent yet theirs (STATUS_ORPHAN). Errors: vk.ErrUnsubmitted where a
// stream has work recorded that names the tree and was not submitted; those of alloc.SlabPool.Grow.
func (t *Tree[K, V]) Grow(ctx context.Context, nodes int) error {
	return t.open().core.Grow(ctx, nodes)
}

// Compact rebuilds the tree so that each node has that share of its slots in use, above 0 and up to 1; 0: Options.Fill.
// Empty leaves and erased slots are gone afterwards, and the nodes stand in memory level by level, as after Build.
// Where they need far less memory than the pool has, the pool is replaced by a smaller one, unless others share it. It
// takes 8 bytes of device memory a pair and some 40 a leaf meanwhile. Errors: *structures.OptionError,
// *vk.OutOfMemoryError, vk.ErrUnsubmitted (Finish), *structures.LimitError where more nodes would be needed than there
// is room for; after each of them the tree is as it was.
func (t *Tree[K, V]) Compact(ctx context.Context, fill float64) error {
	return t.open().core.Compact(ctx, fill)
}

// Stats measures the tree, by a kernel that goes over all nodes, and waits for it.
func (t *Tree[K, V]) Stats(ctx context.Context) (Stats, error) {
	return t.open().core.Stats(ctx)
}

// Check looks at every node of the tree, on the device, and whether they are a tree: *CorruptError if not. Nothing else
// may run on the tree. It takes 8 bytes of device memory a slab of the pool. While snapshots are open it looks at the
// versions of leaves as well, behind what streams have submitted, with 16 bytes a version; vk.ErrUnsubmitted where one
// has recorded updates, or queries at snapshots, and not submitted them.
func (t *Tree[K, V]) Check(ctx context.Context) error {
	return t.open().core.Check(ctx)
}

// Nodes returns all nodes of the tree, level by level from the root on and each level in key order; of a tree that is
// corrupt, those that something leads to. It takes as much memory as they do, on the host and not on the device.
func (t *Tree[K, V]) Nodes(ctx context.Context) ([]Node[uint64], error) {
	return t.open().core.nodes(ctx)
}

// Device describes the tree to a kernel of your own, which includes shaders/include/btree.glsl. Ask for it at every
// dispatch: the next call on the tree that may need room counts the nodes that the kernel may have added, for which
// UpdateOn waits. It holds until the next call on the tree that may give it more memory: any update from Go slices,
// UpdateOn, BuildOn, Finish, Compact, Clear, Close. Of a tree that is closed, or whose pool is, it is the zero value.
func (t *Tree[K, V]) Device() Device {
	return t.open().core.Device()
}

// Constants are the specialization constants that a kernel over the tree needs, by name. They may change when the tree
// gets more memory.
func (t *Tree[K, V]) Constants() map[string]uint32 {
	return t.open().core.Constants()
}

// UsedOn notes that what was recorded into a stream so far names the tree's memory, as Device describes it: kernels of
// your own, for the tree's methods do so themselves. Calls that replace that memory wait until the work has ended, or
// return vk.ErrUnsubmitted where it was not submitted; Close frees it behind the work.
func (t *Tree[K, V]) UsedOn(s *vk.Stream) {
	t.open().core.UsedOn(s)
}
