package btree

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

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
