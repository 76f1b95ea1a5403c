package sortedarray

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// InsertOn inserts pairs from device buffers, after what was recorded into the stream before. It waits for the stream,
// since the host has to know how many pairs there are, and records the rest of the work behind that: queries come later
// on the same stream, or on one that comes after it (vk.Stream.After), or when the stream was waited for. It submits what
// it records, so that discarding what the stream has recorded doesn't take it back. Errors as Insert's; then the array is
// as it was.
func (a *Array) InsertOn(ctx context.Context, s *vk.Stream, u structures.DeviceUpdates) error {
	return a.updateOn(ctx, s, structures.Insert, u)
}

// DeleteOn deletes keys from a device buffer, as InsertOn inserts.
func (a *Array) DeleteOn(ctx context.Context, s *vk.Stream, u structures.DeviceUpdates) error {
	return a.updateOn(ctx, s, structures.Delete, u)
}

func (a *Array) updateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, u structures.DeviceUpdates) error {
	if err := a.core.EnterOn(ctx); err != nil {
		return err
	}
	defer a.core.Leave()
	return a.core.UpdateOn(ctx, s, kind, u)
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
