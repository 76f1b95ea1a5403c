package mvbtree

import (
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// Moving says what kernels do to a tree that take snapshots of it meanwhile: the most of each. The tree has versions
// and times ready for so many, 132 bytes an update.
type Moving struct {
	// Updates are operations that may change a pair, each time that they are tried. One that finds no version to be had
	// is left pending, without effect.
	Updates int
	// Snapshots are those that subgroups take, each for all of its lanes. What more of them find is what the last one
	// of these has.
	Snapshots int
}

// On records kernels of one's own that change the tree and take snapshots of it inside a dispatch (btree_clock.glsl,
// docs/device-side.md), compiled with VKDS_CLOCK: queries at such a snapshot see one moment, whatever other invocations
// do meanwhile, and a snapshot ends with what was recorded here. record is called once, before On returns, with the
// tree as it stands in their push constants, and records them on the stream, one dispatch or several; on the device
// they come behind what other streams have submitted, and before what these do next. They need Tree.Constants. Nothing
// else may change the tree beside them, no kernel without VKDS_CLOCK either.
//
// Insertions want slabs: Tree.Grow has them ready. Snapshots of the host that are open stay what they are. Where it
// needs memory for versions, On submits what the stream has recorded, and waits.
//
// What record calls of the tree that would wait for On itself is a *structures.ReentryError. Errors: vk.ErrUnsubmitted,
// vk.ErrClosed, *vk.ForeignError, *structures.LimitError, *vk.OutOfMemoryError, record's own, which the stream then
// keeps: nothing of it runs.
func (t *Tree[K, V]) On(stream *vk.Stream, m Moving, record func(tree btree.Device) error) error {
	return t.of.Moving(stream, m.Updates, m.Snapshots, func(device any) error { return record(device.(btree.Device)) })
}
