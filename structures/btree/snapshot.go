package btree

import (
	"context"
	"errors"
	"io"
	"iter"
	"runtime"

	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Snapshot is the content of a tree at one time. It does not change while it is open, whatever updates do to the tree.
// It is safe for many goroutines. After Close, or once the tree is closed, its methods return vk.ErrClosed.
//
// A query from Go slices is one call, which runs between the updates of other goroutines. Iterators continue while the
// tree changes, and return the snapshot's pairs. Queries on streams run after the work that other streams have
// submitted (Tree). A query reads a second node for each leaf that has changed since the snapshot
// (docs/notes/measurements.md).
type Snapshot[K, V structures.Number] struct {
	asked     ordered.Queries[K, V]
	view      *view
	forgotten runtime.Cleanup
}

var (
	// ErrNoSnapshot is returned if no open snapshot has the requested time.
	ErrNoSnapshot = errors.New("btree: no snapshot of this time is open")
	// ErrSnapshots is returned if a call would rebuild the nodes of a tree while open snapshots need them as they are.
	ErrSnapshots = errors.New("btree: snapshots are open, which need the tree's nodes as they are: close them first")
)

// Snapshot opens a snapshot of the tree's present content: the results of all calls with Go slices, and of all work
// that streams have submitted, even if the device has not finished it. It does not wait for the device, and takes a few
// hundred nanoseconds. While snapshots are open, updates are slower: before a batch changes a leaf for the first time
// since the newest snapshot, it copies the leaf.
//
// A snapshot that is not closed keeps memory. If the garbage collector finds a snapshot without references, it closes
// the snapshot and writes a warning to the device's log.
//
// Errors: vk.ErrUnsubmitted if a stream has recorded updates and not submitted them, *vk.LimitError after 2^32
// snapshots while one of them is open, vk.ErrClosed, the context's.
func (t *Tree[K, V]) Snapshot(ctx context.Context) (*Snapshot[K, V], error) {
	v, err := t.open().core.Snapshot(ctx)
	return opened[K, V](v, err)
}

// SnapshotOn opens a snapshot of what a tree holds at this point of a stream: after the updates that the stream has
// recorded so far, submitted or not, and those that other streams have submitted, and before all that are recorded
// later. So one submission may hold updates, queries at the snapshot, and more updates. It costs what Tree.Snapshot
// does. Operations that an update leaves pending are done by Finish, and so come after the snapshot.
//
// Until the stream has submitted its updates, a call of another stream or from Go slices that uses the snapshot returns
// vk.ErrUnsubmitted; the stream itself may record queries at it. If nothing is recorded, SnapshotOn is Tree.Snapshot.
//
// If the stream drops what it has recorded (Discard, Close, an error), the snapshot ends with it: its methods return
// vk.ErrClosed from then on, as after its Close, and its Close returns nil.
//
// Errors: vk.ErrUnsubmitted if another stream has recorded updates and not submitted them, *vk.ForeignError,
// *vk.LimitError, vk.ErrClosed.
func SnapshotOn[K, V structures.Number](s *vk.Stream, t *Tree[K, V]) (*Snapshot[K, V], error) {
	v, err := t.open().core.SnapshotOn(s)
	return opened[K, V](v, err)
}

// SnapshotAt opens another handle to an open snapshot, by its time (Snapshot.Time). Errors: ErrNoSnapshot if no
// open snapshot has that time, vk.ErrClosed, the context's.
func SnapshotAt[K, V structures.Number](ctx context.Context, t *Tree[K, V], time uint64) (*Snapshot[K, V], error) {
	v, err := t.open().core.At(ctx, time)
	if err == nil && v == nil {
		err = ErrNoSnapshot
	}
	return opened[K, V](v, err)
}

// opened returns a snapshot that the garbage collector closes if the caller does not.
func opened[K, V structures.Number](v *view, err error) (*Snapshot[K, V], error) {
	if err != nil {
		return nil, err
	}
	s := &Snapshot[K, V]{asked: ordered.Queries[K, V]{Reader: v.Reader}, view: v}
	s.forgotten = runtime.AddCleanup(s, (*view).forgotten, v)
	return s, nil
}

// made reports whether a tree has opened the snapshot.
func (s *Snapshot[K, V]) made() bool { return s != nil && s.view != nil }

// queries returns the queries of the snapshot, or of a tree that is not open if s is nil or a zero value.
func (s *Snapshot[K, V]) queries() ordered.Queries[K, V] {
	if !s.made() {
		return (*Tree[K, V])(nil).open().queries
	}
	return s.asked
}

// Time returns when the snapshot was taken, by the tree's clock. The clock advances with each snapshot that follows
// updates; snapshots with the same pairs, one after the other, may have the same time.
func (s *Snapshot[K, V]) Time() uint64 {
	if !s.made() {
		return 0
	}
	return s.view.Time()
}

// Len returns the number of pairs. It counts those of all leaves.
func (s *Snapshot[K, V]) Len(ctx context.Context) (uint64, error) {
	if !s.made() {
		return 0, vk.ErrNotOpen
	}
	return s.view.Total(ctx)
}

// Save writes all pairs to w, as Tree.Save does, while updates go on. Errors: w's, those of Chunks.
func (s *Snapshot[K, V]) Save(ctx context.Context, w io.Writer) (int64, error) {
	if !s.made() {
		return 0, vk.ErrNotOpen
	}
	return s.view.Save(ctx, w)
}

// On returns the queries on device buffers that are recorded on a stream.
func (s *Snapshot[K, V]) On(stream *vk.Stream) structures.QueriesOnStream {
	return s.queries().On(stream)
}

// InShaders records kernels of the caller that read what the tree held, by btree_search.glsl and others compiled with
// VKDS_SNAPSHOT (docs/device-side.md). It calls record once, before it returns, with the value that the kernels' push
// constants need; record records the dispatches on the stream. On the device they run after the updates that other
// streams have submitted, and before later ones. The kernels need the constants of Tree.InShaders. While record runs,
// the tree is in use by work that is not submitted. Errors: vk.ErrUnsubmitted, vk.ErrClosed, *vk.ForeignError, and
// record's own, after which the stream runs nothing of it.
func (s *Snapshot[K, V]) InShaders(stream *vk.Stream, record func(tree Description) error) error {
	if !s.made() {
		return vk.ErrNotOpen
	}
	return s.view.Kernels(stream, record)
}

// Close ends the snapshot. The versions that only this snapshot needs are freed after the work that streams have
// recorded of it. Closing the last snapshot of a tree waits for the calls that change the tree. Further calls do
// nothing. It returns nil.
func (s *Snapshot[K, V]) Close() error {
	if !s.made() {
		return vk.ErrNotOpen
	}
	s.forgotten.Stop()
	err := s.view.Close()
	runtime.KeepAlive(s)
	return err
}

// Versions describes what a tree keeps for its snapshots.
type Versions struct {
	Snapshots      int    // open snapshots
	Oldest, Newest uint64 // their times; 0 if there is none
	Kept           int    // copies of leaves
	Bytes          uint64 // memory for the copies, used or spare
	Forgotten      uint64 // snapshots that were not closed
}

// History is what is kept of a leaf for the open snapshots.
type History struct {
	Since    uint64    // the time of the updates that last changed the leaf; 0: none since the oldest snapshot
	Versions []Version // the leaf's earlier content, the newest first
}

// Version is the content of a leaf for some time. A snapshot with a time from Since on and before Until reads its
// pairs in the leaf's present range from this version. If a leaf was split, both leaves share the earlier versions.
type Version struct {
	Number       uint32   // identifies the version, which several leaves may share
	Since, Until uint64   // the times of the updates that began and ended it, like Snapshot.Time
	Keys, Values []uint64 // in key order, as words (structures.KeyCode)
}

// Find returns the value of each key, 0 if the key is absent, and whether the key is there.
func (s *Snapshot[K, V]) Find(ctx context.Context, keys []K) (values []V, found []bool, err error) {
	return s.queries().Find(ctx, keys)
}

// Get returns the value of one key, and whether the key is there.
func (s *Snapshot[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	return s.queries().Get(ctx, key)
}

// FindInto is Find into the caller's slices. values may be keys itself.
func (s *Snapshot[K, V]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	return s.queries().FindInto(ctx, keys, values, found)
}

// Count returns the number of keys in each range.
func (s *Snapshot[K, V]) Count(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	return s.queries().Count(ctx, ranges)
}

// Range returns the pairs of each range, in key order.
func (s *Snapshot[K, V]) Range(ctx context.Context, ranges []structures.Range[K]) (structures.Ranges[K, V], error) {
	return s.queries().Range(ctx, ranges)
}

// RangeInto is Range into the caller's slices. It makes new slices if those have no room.
func (s *Snapshot[K, V]) RangeInto(ctx context.Context, ranges []structures.Range[K],
	into *structures.Ranges[K, V]) error {
	return s.queries().RangeInto(ctx, ranges, into)
}

// Neighbor finds the neighbor of each key in one direction: structures.Successor, Predecessor, Floor or Ceil.
func (s *Snapshot[K, V]) Neighbor(ctx context.Context, to structures.Direction,
	keys []K) (structures.Neighbors[K, V], error) {
	return s.queries().Neighbor(ctx, to, keys)
}

// Rank returns for each key the number of keys that are less. The key itself need not be there.
func (s *Snapshot[K, V]) Rank(ctx context.Context, keys []K) ([]uint32, error) {
	return s.queries().Rank(ctx, keys)
}

// Select returns the pair of each rank. The least key has rank 0.
func (s *Snapshot[K, V]) Select(ctx context.Context, ranks []uint32) (structures.Neighbors[K, V], error) {
	return s.queries().Select(ctx, ranks)
}

// Ascend returns the pairs of a range in key order. Errors are those of All.
func (s *Snapshot[K, V]) Ascend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return s.queries().Ascend(ctx, r)
}

// Descend returns the pairs of a range, the greatest key first. Errors are those of All.
func (s *Snapshot[K, V]) Descend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return s.queries().Descend(ctx, r)
}

// All returns the pairs in key order. An error ends the iteration: those of Range. Changes of the tree do not end it.
func (s *Snapshot[K, V]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return s.queries().All(ctx)
}

// Chunks is All with many pairs at a time, in slices that are valid until the next ones come.
func (s *Snapshot[K, V]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return s.queries().Chunks(ctx)
}
