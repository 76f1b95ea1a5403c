package sortedarray

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

var _ structures.OrderedOnStream = (*Array)(nil)

// UpdateOn does a batch of structures.Insert, InsertUnique, InsertAdd, InsertMin, InsertMax or Delete from device
// buffers, after what was recorded into the stream before. It waits for the stream, since the host has to know how many
// pairs there are, and records the rest of the work behind that: queries come later on the same stream, or on one that
// comes after it (vk.Stream.After), or when the stream was waited for. It submits what it records, so that discarding
// what the stream has recorded doesn't take it back. Nothing is left pending. Errors as Insert's, and
// *structures.KindError; then the array is as it was.
func (a *Array) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return a.core.UpdateOn(ctx, s, kind, b)
}

// Finish waits for the stream: no batch leaves anything pending.
func (a *Array) Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return a.core.Finish(ctx, s, kind, b)
}
