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
	"context"
	"io"

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
// runs alone (structures.Dictionary says more). Len, Stats and Check run alone, too.
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
// it. While Compact runs, it takes 8 bytes of device memory for each pair and about 40 for each leaf.
//
// Errors: *vk.OptionError, *vk.OutOfMemoryError, vk.ErrUnsubmitted (Finish), and *vk.LimitError if
// there is no room for the nodes. After an error the tree is unchanged.
func (t *Tree[K, V]) Compact(ctx context.Context, fill float64) error {
	return t.open().core.Compact(ctx, fill)
}
