package btree

import (
	"context"

	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// OnStream has the calls of a tree on device buffers that are recorded on a stream.
//
// Update sorts its batch and changes each node that it touches once, without latches: no other work may use the tree at
// the same time. The result is that of the operations one after the other, and is the same in every run. Update does
// not wait unless the tree may need more memory. It is faster without a Status. It makes room for Count operations,
// even if DeviceCount is less. If Count is far too large, Update counts the tree's nodes more often: it waits for that
// before it allocates more memory. Leaves that become empty go back to the pool, except for the first leaf of each
// parent.
//
// Apply does Insert, InsertUnique, InsertAdd, InsertMin, InsertMax, Delete, Find, and the ordered queries. Batches on
// several streams may use the tree at the same time. Ordered queries of a mixed batch see what was there before the
// batch (structures.Batch). A batch with ordered queries waits for the batches that other streams have submitted, and
// those that they submit later wait for it; a kernel of yours must not change the tree meanwhile. Updates of one key
// run one after the other: if one key has a large share of the batch, Update is faster. If the pool is full, operations
// are left pending: call Finish with the batch when no stream uses the tree.
//
// Finish gives the tree more memory and dispatches again, until b.Left is 0. If operations are pending, it also waits
// for the other streams that use the tree.
//
// Errors of Update, Apply and Build: *structures.KindError, *structures.LengthError, *structures.CountError,
// *vk.LimitError, *vk.OutOfMemoryError, vk.ErrUnsubmitted (Tree), vk.ErrClosed, and those of making a kernel.
// After an error nothing of the batch runs: an error before its first command leaves the stream unchanged, and a later
// error makes the stream drop all that it has recorded.
//
// Errors of Finish: *structures.KindError, *structures.LengthError, structures.ErrSuperseded, vk.ErrClosed, the
// context's, and *structures.PendingError around the error that stopped Finish: vk.ErrUnsubmitted if another stream has
// recorded work on the tree and not submitted it, *vk.LimitError, *vk.OutOfMemoryError, *structures.StuckError,
// or the context's.
type OnStream interface {
	structures.ConcurrentOnStream
	structures.QueriesOnStream

	// Build records that the tree's content is replaced by pairs in device buffers, in any order. If keys are equal,
	// the last one counts. The replacement follows what the stream has recorded before; no other work may use the tree
	// at the same time. If the tree needs more memory, Build waits for the stream. Status is not written. With a
	// Count of 0 the tree is empty afterwards. More than 2^30 pairs are a *structures.CountError.
	Build(ctx context.Context, b structures.DeviceBatch) error

	// Window records the writing of the first pairs of ranges. The tree must not change until that is done. If it
	// measured faster, Window, Count and Range first partition the ranges by their least keys, as Find does with
	// AutoOrder. Errors are those of Find.
	Window(w structures.DeviceWindow) error
}

// On returns the calls on device buffers that are recorded on a stream.
func (t *Tree[K, V]) On(s *vk.Stream) OnStream { return t.open().core.On(s) }

// onStream is OnStream.
type onStream struct {
	ordered.OnStream
	tree *tree
}

// On returns the calls on a stream.
func (t *tree) On(s *vk.Stream) onStream { return onStream{t.reader.On(s), t} }

func (o onStream) Update(ctx context.Context, kind structures.Kind, b structures.DeviceBatch) error {
	return o.tree.UpdateOn(ctx, o.Stream, kind, b)
}

func (o onStream) Apply(kind structures.Kind, b structures.DeviceBatch) error {
	return o.tree.ApplyOn(o.Stream, kind, b)
}

func (o onStream) Finish(ctx context.Context, kind structures.Kind, b structures.DeviceBatch) error {
	return o.tree.Finish(ctx, o.Stream, kind, b)
}

func (o onStream) Build(ctx context.Context, b structures.DeviceBatch) error {
	return o.tree.BuildOn(ctx, o.Stream, b)
}

func (o onStream) Window(w structures.DeviceWindow) error { return o.tree.WindowOn(o.Stream, w) }

// InShaders has what kernels of your own need that include shaders/include/btree.glsl.
//
// Call Description before every dispatch: the next call on the tree that may need room counts the nodes that the kernel
// may have added, and OnStream.Update waits for that. The value is valid until the next call on the tree that may give
// it more memory: any update from Go slices, Update and Build of OnStream, Finish, Compact, Clear, Close. If the tree
// or its pool is closed, it is the zero value. Constants may change when the tree gets more memory.
//
// After UsedOn, calls that replace the tree's memory wait until the work has ended, or return vk.ErrUnsubmitted if it
// was not submitted. Close frees the memory after the work.
type InShaders interface {
	structures.InShaders[Description]

	// Grow makes that many nodes of the pool free, for kernels that insert. Call it when these kernels have ended: it
	// also adds nodes without a parent to their parents (STATUS_ORPHAN).
	//
	// Errors: vk.ErrUnsubmitted if a stream has recorded work on the tree and not submitted it, and those of
	// alloc.SlabPool.Grow.
	Grow(ctx context.Context, nodes int) error

	// On records kernels that change the tree and take snapshots of it inside a dispatch (btree_clock.glsl,
	// docs/device-side.md), compiled with VKDS_CLOCK. Queries at such a snapshot see the tree at one moment, while
	// other invocations change it. These snapshots end with the recorded work; snapshots of the host are not affected.
	//
	// On calls record once, before it returns, with the value that the kernels' push constants need; record records
	// one dispatch or several on the stream. The device runs them after the work that other streams have submitted,
	// and before the work that these submit later. The kernels need Constants. Nothing else may change the tree at the
	// same time, not even a kernel without VKDS_CLOCK. Insertions need slabs: call Grow first. If On needs memory for
	// versions, it submits what the stream has recorded, and waits. While record runs, the tree is in use by work that
	// is not submitted.
	//
	// Errors: vk.ErrUnsubmitted, vk.ErrClosed, *vk.ForeignError, *vk.LimitError, *vk.OutOfMemoryError, and
	// record's own, after which the stream runs nothing of it.
	On(stream *vk.Stream, m Moving, record func(tree Description) error) error
}

// InShaders returns what kernels of your own need to use the tree.
func (t *Tree[K, V]) InShaders() InShaders { return inShaders{t.open().core} }

// inShaders is InShaders.
type inShaders struct{ tree *tree }

func (x inShaders) Description() Description     { return x.tree.Description() }
func (x inShaders) Constants() map[string]uint32 { return x.tree.Constants() }
func (x inShaders) UsedOn(s *vk.Stream)          { x.tree.UsedOn(s) }

func (x inShaders) Grow(ctx context.Context, nodes int) error { return x.tree.Grow(ctx, nodes) }

func (x inShaders) On(stream *vk.Stream, m Moving, record func(tree Description) error) error {
	return x.tree.moving(stream, m, record)
}

// Moving bounds the work of kernels that take snapshots inside a dispatch. The tree reserves versions and times for
// that work, 132 bytes for each update.
type Moving struct {
	// Updates is the number of operations that may change a pair. An operation counts each time it is tried. If an
	// operation finds no free version, it is left pending, without effect.
	Updates int
	// Snapshots is the number of snapshots that subgroups take, each for all of its lanes. Further snapshots see what
	// the last of these sees.
	Snapshots int
}
