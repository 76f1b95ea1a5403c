package lsm

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

var _ structures.OrderedOnStream = (*LSM)(nil)

// UpdateOn records a batch of structures.Insert or Delete from device buffers on a stream and does not wait: deleted keys
// are inserted as tombstones. Where batches are of Options.Batch operations and no Status is asked for, that is one sort
// and on average one merge. Nothing is left pending.
//
// Updates count from the moment when they are recorded, unless the stream drops them: then all is as it was. What comes
// later, on other streams and without one, comes behind what was submitted, by itself; while updates are recorded, but not
// submitted, it is vk.ErrUnsubmitted. So are updates while another stream has queries recorded, but not submitted. The
// memory for levels is allocated here when they are needed first; Options.Capacity has it allocated before.
//
// Errors: *structures.KindError, *structures.LengthError, *structures.LimitError, *vk.OutOfMemoryError, vk.ErrUnsubmitted, what making a kernel may return;
// nothing is changed then. What is refused before its first command leaves the stream as it was; after that the stream
// drops its batch.
func (l *LSM) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return l.core.UpdateOn(ctx, s, kind, b)
}

// Finish waits for the stream: no batch leaves anything pending.
func (l *LSM) Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return l.core.Finish(ctx, s, kind, b)
}

// FindOn records lookups on a stream and does not wait. Streams keep temporary memory of the LSM's until Trim, Cleanup
// or Close.
func (l *LSM) FindOn(s *vk.Stream, q structures.DeviceLookups) error { return l.core.FindOn(s, q) }

// CountOn records the counting of ranges on a stream, as FindOn does lookups.
func (l *LSM) CountOn(s *vk.Stream, r structures.DeviceCounts) error { return l.core.CountOn(s, r) }

// RangeOn records the writing of the pairs of ranges on a stream, as FindOn does lookups.
func (l *LSM) RangeOn(s *vk.Stream, r structures.DeviceRanges) error { return l.core.RangeOn(s, r) }

// NeighborOn records the search for neighbors on a stream, as FindOn does lookups. FinishNeighbors carries on what it
// leaves pending.
func (l *LSM) NeighborOn(s *vk.Stream, to structures.Direction, n structures.DeviceNeighbors) error {
	return l.core.NeighborOn(s, to, n)
}

// FinishNeighbors waits for the stream, and carries on the searches that NeighborOn has left pending, until n.Left is 0.
// The LSM must not change meanwhile. Errors: the context's; *structures.PendingError around *structures.StuckError where a
// search makes more steps than there are pairs, which only a stray write can cause, or around what making a kernel may
// return.
func (l *LSM) FinishNeighbors(ctx context.Context, s *vk.Stream, to structures.Direction, n structures.DeviceNeighbors) error {
	return l.core.FinishNeighbors(ctx, s, to, n)
}
