package btree

import (
	"context"

	"github.com/vkds/vkds/structures"
)

// Inspection looks inside of a tree.
type Inspection struct{ tree *tree }

// Inspect returns what looks inside of the tree: statistics, nodes, versions.
func (t *Tree[K, V]) Inspect() Inspection { return Inspection{t.open().core} }

// Metrics returns what the host knows, without asking the device.
func (i Inspection) Metrics() structures.Metrics { return i.tree.Metrics() }

// Stats measures the tree. It waits for the updates that streams have submitted, and for a kernel that reads all nodes.
// Errors: vk.ErrUnsubmitted if a stream has recorded updates and not submitted them; the context's.
func (i Inspection) Stats(ctx context.Context) (Stats, error) { return i.tree.Stats(ctx) }

// Check verifies every node of the tree on the device. It returns *CorruptError if a rule is broken. No other work may
// use the tree at the same time. Check takes 8 bytes of device memory for each slab of the pool.
//
// While snapshots are open, Check also verifies the versions of leaves, after the work that streams have submitted.
// That takes 16 bytes for each version. Check then returns vk.ErrUnsubmitted if a stream has recorded updates, or
// queries at snapshots, and not submitted them.
func (i Inspection) Check(ctx context.Context) error { return i.tree.Check(ctx) }

// Nodes returns all nodes of the tree, level by level from the root, each level in key order. If the tree is corrupt,
// these are the nodes that can be reached. Nodes takes host memory for all nodes, but not device memory.
func (i Inspection) Nodes(ctx context.Context) ([]Node[uint64], error) { return i.tree.nodes(ctx) }

// Versions returns what the tree keeps for its snapshots. It waits for the streams that use the tree, and frees what no
// snapshot needs any more. Errors: vk.ErrUnsubmitted, vk.ErrClosed, the context's.
func (i Inspection) Versions(ctx context.Context) (Versions, error) { return i.tree.Versions(ctx) }

// History returns what is kept of a leaf, one of Nodes. It is empty if no snapshot is open. It waits for the streams
// that use the tree. Errors: vk.ErrUnsubmitted, vk.ErrClosed, the context's.
func (i Inspection) History(ctx context.Context, leaf Node[uint64]) (History, error) {
	return i.tree.History(ctx, leaf)
}
