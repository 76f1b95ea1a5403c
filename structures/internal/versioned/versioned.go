// Package versioned is what package mvbtree asks of a B-link-tree. Package btree answers: it tells this one how when a
// program begins, and needn't have names for it that everybody sees.
package versioned

import (
	"context"
	"io"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Tree is a *btree.Tree as mvbtree sees it.
type Tree interface {
	// Snapshot opens a snapshot of the newest pairs.
	Snapshot(ctx context.Context) (Snapshot, error)
	// SnapshotOn opens one of the pairs where a stream stands.
	SnapshotOn(s *vk.Stream) (Snapshot, error)
	// At opens one of a time that an open snapshot has; nil where none has it.
	At(ctx context.Context, time uint64) (Snapshot, error)
	// Versions says what is kept.
	Versions(ctx context.Context) (Versions, error)
	// History reads the versions of a leaf, a btree.Node of 64-bit words.
	History(ctx context.Context, leaf any) (History, error)
	// Moving records kernels of the caller, with the btree.Device that they see the tree by: they take so many
	// snapshots at most, while they make so many updates.
	Moving(s *vk.Stream, updates, snapshots int, record func(device any) error) error
	// Prepares has the tree's Prepare make the kernels for snapshots, too.
	Prepares()
	// Inside says whether it is asked by a function of the user's that a call on the tree, or on another structure of
	// its pool, has called: whoever waits for such a call then waits for ever.
	Inside() bool
	// Forgotten ends a snapshot that nobody refers to any more, and was not closed.
	Forgotten(s Snapshot)
}

// Versions are mvbtree.Versions.
type Versions struct {
	Snapshots      int
	Oldest, Newest uint64
	Kept           int
	Bytes          uint64
	Forgotten      uint64
}

// History is mvbtree.History.
type History struct {
	Since    uint64
	Versions []Version
}

// Version is mvbtree.Version.
type Version struct {
	Number       uint32
	Since, Until uint64
	Keys, Values []uint64
}

// Changes are keys of which two snapshots have different pairs: ascending, with the values that they had and have, 0
// where there is none, and the operation that makes the later snapshot of the earlier one.
type Changes[K, V structures.Number] struct {
	Keys     []K
	Old, New []V
	Kinds    []structures.Kind
}

// DeviceDiff is mvbtree.DeviceDiff.
type DeviceDiff struct {
	From     uint64
	Keys     *vk.Buffer[uint32]
	Old, New *vk.Buffer[uint32]
	Kinds    *vk.Buffer[uint8]
	Total    *vk.Buffer[uint32]
}

// Snapshot is what a tree held at a time.
type Snapshot interface {
	// Queries is a structures.Queries of the tree's types.
	Queries() any
	// Diff reads of which keys, from one on, a later snapshot has other pairs: up to so many, as Changes of the tree's
	// types. all: how many there are, of which those that are left begin with next. Keys that it takes and returns by
	// themselves are words. Error: vk.ErrClosed.
	Diff(ctx context.Context, later Snapshot, from uint64, room int) (changes any, all int, next uint64, err error)
	// DiffOn records that these keys are written to buffers.
	DiffOn(s *vk.Stream, later Snapshot, d DeviceDiff) error
	Time() uint64
	Len(ctx context.Context) (uint64, error)
	Save(ctx context.Context, w io.Writer) (int64, error)
	// Kernels records those of the caller, with the btree.Device that they read the snapshot by.
	Kernels(s *vk.Stream, record func(device any) error) error
	// Of says whether it is one of a tree.
	Of(t Tree) bool
	Close() error
}

// Of sees a tree so. Package btree sets it.
var Of func(tree any) Tree
