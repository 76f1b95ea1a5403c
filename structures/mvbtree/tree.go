// Package mvbtree is an ordered dictionary in GPU memory with snapshots: a multiversion B-link-tree, after chapter 4 of
// Awad's dissertation, Fully Concurrent GPU Data Structures (2022).
//
// A Tree is a btree.Tree, with all that it does. A Snapshot is what it held at a time, for as long as the snapshot is
// open: lookups, ranges, neighbors, ranks, iterators and exports see that, while batches of updates go on changing the
// tree. Taking one costs a few hundred nanoseconds of the host and nothing on the device. Updates pay for it: before a
// batch changes a leaf for the first time since the newest snapshot, the leaf is copied. Without open snapshots nothing
// is copied, and the tree runs the kernels of a btree.Tree.
package mvbtree

import (
	"context"
	"io"
	"runtime"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/internal/versioned"
	"github.com/vkds/vkds/vk"
)

// Options are those of a btree.Tree.
type Options = btree.Options

// Tree is a B-link-tree with snapshots. Several goroutines may use one.
//
// Where a btree.Tree says that nothing may change it until queries on a stream are done, queries at a snapshot see to
// that themselves: what streams submit is ordered by the device, updates behind such queries and such queries behind
// updates. What one stream has recorded and not submitted can't be ordered, and so a call on the tree that has to come
// behind it is vk.ErrUnsubmitted.
//
// So it is with batches of ApplyOn that ask for order (with a Width), and with such calls of Apply: they come behind
// what other streams have submitted, and before what these do next. The queries for order of a mixed one, however many
// chunks it takes, see what was there before it, one moment for all of them, and all operations of all streams have a
// sequential order. Of a batch of ApplyOn that has nothing but such queries each sees one moment: all of them the same
// one, but for those that Finish finds pending. With OwnMoments each query of a mixed batch sees a moment of its own,
// while the batch's updates go on, which is linearizable, too: chapter 4's concurrent benchmark. Other batches of
// ApplyOn run beside one another.
//
// While a snapshot is open, an update on a stream, ApplyOn too, may need memory for versions: then it submits what the
// stream has recorded, and waits. Compact and BuildOn are *structures.SnapshotsError then; Clear deletes all pairs,
// leaf by leaf; and leaves that deletions empty stay where they are. A kernel of one's own may change the tree while
// one is open only as On records it.
type Tree[K, V structures.Number] struct {
	*btree.Tree[K, V]
	of versioned.Tree
}

func treeOf[K, V structures.Number](t *btree.Tree[K, V], err error) (*Tree[K, V], error) {
	if err != nil {
		return nil, err
	}
	return &Tree[K, V]{t, versioned.Of(t)}, nil
}

// New makes an empty tree, as btree.New does.
func New[K, V structures.Number](ctx context.Context, d *vk.Device, o Options) (*Tree[K, V], error) {
	return treeOf(btree.New[K, V](ctx, d, o))
}

// Build makes a tree of pairs, as btree.Build does.
func Build[K, V structures.Number](ctx context.Context, d *vk.Device, keys []K, values []V,
	o Options) (*Tree[K, V], error) {
	return treeOf(btree.Build(ctx, d, keys, values, o))
}

// Load makes a tree of what any structure, or a Snapshot, has saved, as btree.Load does.
func Load[K, V structures.Number](ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Tree[K, V], error) {
	return treeOf(btree.Load[K, V](ctx, d, r, o))
}

// Snapshot opens a snapshot of what the tree holds now: what calls with Go slices have done, and what streams have
// submitted, also where they are not done yet. It doesn't wait for the device. Errors: vk.ErrUnsubmitted where a stream
// has recorded updates and not submitted them, *structures.LimitError behind 2^32 snapshots while one of them is open,
// vk.ErrClosed, the context's.
//
// A snapshot that is not closed keeps memory. One that nobody refers to any more is closed when the garbage collector
// finds it, with a warning in the device's log.
func (t *Tree[K, V]) Snapshot(ctx context.Context) (*Snapshot[K, V], error) {
	s, err := t.of.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return opened[K, V](t.of, s), nil
}

// SnapshotOn opens a snapshot of the place in a stream's order where it is recorded: behind the updates that the stream
// has recorded before it, submitted or not, and those that other streams have submitted, and before all that are
// recorded later. So a stream may go on with updates, and have queries at the snapshot among them, and submit all of it
// at once. It costs what Snapshot does: nothing runs on the device for it, and nothing waits but the stream, for these
// others. Operations that UpdateOn leaves pending are done by Finish, and so come behind it.
//
// Until the stream has submitted its updates, what others ask of the snapshot is vk.ErrUnsubmitted, as all that has to
// come behind them; what the stream itself records of it isn't. If the stream drops what it had recorded (Discard,
// Close, an error), the snapshot is closed with it, as if it had not been taken. With nothing recorded it is Snapshot.
// Errors: vk.ErrUnsubmitted where another stream has recorded updates and not submitted them, *vk.ForeignError,
// *structures.LimitError, vk.ErrClosed.
func (t *Tree[K, V]) SnapshotOn(s *vk.Stream) (*Snapshot[K, V], error) {
	o, err := t.of.SnapshotOn(s)
	if err != nil {
		return nil, err
	}
	return opened[K, V](t.of, o), nil
}

// At opens a snapshot once more: that of a time, as Snapshot.Time has it. Errors: *UnprotectedError where no open
// snapshot has the time, vk.ErrClosed, the context's.
func (t *Tree[K, V]) At(ctx context.Context, time uint64) (*Snapshot[K, V], error) {
	s, err := t.of.At(ctx, time)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, &UnprotectedError{time}
	}
	return opened[K, V](t.of, s), nil
}

// Versions says what snapshots keep, for which it waits for the streams that work on the tree and frees what none of
// them needs any more. Errors: vk.ErrUnsubmitted, vk.ErrClosed, the context's.
func (t *Tree[K, V]) Versions(ctx context.Context) (Versions, error) {
	v, err := t.of.Versions(ctx)
	return Versions(v), err
}

// Versions are what a tree keeps for its snapshots.
type Versions struct {
	Snapshots      int    // open ones
	Oldest, Newest uint64 // their times; 0 where there is none
	Kept           int    // copies of leaves
	Bytes          uint64 // of memory for these, in use or spare
	Forgotten      uint64 // snapshots that were not closed
}

// History is what is kept of a leaf for the open snapshots.
type History struct {
	Since    uint64    // the time of the updates that last changed the leaf; 0: none has since the oldest of them
	Versions []Version // what it held before, the newest first
}

// Version is what a leaf held for a time. What a snapshot of a time from Since on, and before Until, finds in it: the
// pairs whose keys the leaf is for today. Leaves that were split from one have the same versions.
type Version struct {
	Number       uint32   // by which leaves share it
	Since, Until uint64   // times of the updates that made it so and that ended it, as Snapshot.Time has them
	Keys, Values []uint64 // in key order, as words (structures.KeyCode)
}

// History reads what is kept of a leaf, one of Nodes, for drawing and looking at: nothing where no snapshot is open. It
// waits for the streams that work on the tree. Errors: vk.ErrUnsubmitted, vk.ErrClosed, the context's.
func (t *Tree[K, V]) History(ctx context.Context, leaf btree.Node[uint64]) (History, error) {
	h, err := t.of.History(ctx, leaf)
	versions := make([]Version, len(h.Versions))
	for i, v := range h.Versions {
		versions[i] = Version(v)
	}
	return History{h.Since, versions}, err
}

// opened is a snapshot that the garbage collector closes if nobody else does.
func opened[K, V structures.Number](t versioned.Tree, s versioned.Snapshot) *Snapshot[K, V] {
	o := &Snapshot[K, V]{Queries: s.Queries().(structures.Queries[K, V]), of: t, at: s}
	o.forgotten = runtime.AddCleanup(o, t.Forgotten, s)
	return o
}
