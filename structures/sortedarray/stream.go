package sortedarray

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

var _ structures.OrderedOnStream = (*Array)(nil)

// UpdateOn does a batch of structures.Insert or Delete from device buffers, after what was recorded into the stream
// before. It waits for the stream, since the host has to know how many pairs there are, and records the rest of the work
// behind that: queries come later on the same stream, or on one that comes after it (vk.Stream.After), or when the stream
// was waited for. It submits what it records, so that discarding what the stream has recorded doesn't take it back.
// Nothing is left pending. Errors as Insert's, and *structures.KindError; then the array is as it was.
func (a *Array) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return a.core.UpdateOn(ctx, s, kind, b)
}

// Finish waits for the stream: no batch leaves anything pending.
func (a *Array) Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return a.core.Finish(ctx, s, kind, b)
}

// FindOn records lookups on a stream and does not wait. The array must not change until they are done. Streams keep
// temporary memory of the array's until Trim or Close.
func (a *Array) FindOn(s *vk.Stream, l structures.DeviceLookups) error { return a.core.FindOn(s, l) }

// CountOn records the counting of ranges on a stream, as FindOn does lookups.
func (a *Array) CountOn(s *vk.Stream, r structures.DeviceCounts) error { return a.core.CountOn(s, r) }

// RangeOn records the writing of the pairs of ranges on a stream, as FindOn does lookups.
func (a *Array) RangeOn(s *vk.Stream, r structures.DeviceRanges) error { return a.core.RangeOn(s, r) }

// NeighborOn records the search for neighbors on a stream, as FindOn does lookups. No query is left pending.
func (a *Array) NeighborOn(s *vk.Stream, to structures.Direction, n structures.DeviceNeighbors) error {
	return a.core.NeighborOn(s, to, n)
}

// FinishNeighbors waits for the stream: no search is left pending.
func (a *Array) FinishNeighbors(ctx context.Context, s *vk.Stream, to structures.Direction, n structures.DeviceNeighbors) error {
	return a.core.FinishNeighbors(ctx, s, to, n)
}
