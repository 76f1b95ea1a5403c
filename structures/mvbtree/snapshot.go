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

// Snapshot is what a tree held at a time: the same as long as it is open, whatever updates do meanwhile. Several
// goroutines may use one. After Close its methods return vk.ErrClosed, and so they do once the tree is closed.
//
// From Go slices, each query is one call, which comes between the updates of other goroutines; so iterators go on while
// the tree changes, and have the snapshot's pairs. On streams, queries come behind what others have submitted (Tree). A
// query takes longer where many leaves were changed since: of each such leaf the copy is read besides
// (docs/benchmarks.md).
type Snapshot[K, V structures.Number] struct {
	structures.Queries[K, V]

	of        versioned.Tree
	at        versioned.Snapshot
	forgotten runtime.Cleanup
}

// Time is when the snapshot was taken, by a clock of the tree's that moves on with each snapshot behind updates:
// snapshots with the same pairs, one behind the other, may have the same.
func (s *Snapshot[K, V]) Time() uint64 { return s.at.Time() }

// Len returns the number of pairs. It counts those of all leaves.
func (s *Snapshot[K, V]) Len(ctx context.Context) (uint64, error) { return s.at.Len(ctx) }

// Save writes all pairs to w, as Tree.Save does, while updates go on. Errors: w's, those of Chunks.
func (s *Snapshot[K, V]) Save(ctx context.Context, w io.Writer) (int64, error) {
	return s.at.Save(ctx, w)
}

// WriteTo is Save without a context: io.WriterTo.
func (s *Snapshot[K, V]) WriteTo(w io.Writer) (int64, error) { return s.Save(context.Background(), w) }

// On records kernels of one's own that read what the tree held, with btree_search.glsl and others, compiled with
// VKDS_SNAPSHOT (docs/device-side.md). record is called once, before On returns, with the tree as it stands in their
// push constants, and records them on the stream; on the device they come behind the updates that other streams have
// submitted, and later updates behind them. They need Tree.Constants. What record calls of the tree that would wait for
// On itself is a *structures.ReentryError. Errors: vk.ErrUnsubmitted, vk.ErrClosed, *vk.ForeignError, record's own,
// which the stream then keeps: nothing of it runs.
func (s *Snapshot[K, V]) On(stream *vk.Stream, record func(tree btree.Device) error) error {
	return s.at.Kernels(stream, func(device any) error { return record(device.(btree.Device)) })
}

// Close ends the snapshot: what it alone has kept is freed, behind what streams have recorded of it. The last one of a
// tree waits for the calls that change it. Further calls do nothing. It returns nil.
func (s *Snapshot[K, V]) Close() error {
	s.forgotten.Stop()
	err := s.at.Close()
	runtime.KeepAlive(s)
	return err
}
