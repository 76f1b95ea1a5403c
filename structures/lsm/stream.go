package lsm

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

var _ structures.OrderedOnStream = (*LSM)(nil)

// UpdateOn records a batch of structures.Insert, InsertUnique, InsertAdd, InsertMin, InsertMax or Delete from device
// buffers on a stream and does not wait, but for a DeviceCount: deleted keys are inserted as tombstones, and of those
// whose values depend on what is there the values that come of it. Where batches are of Options.Batch operations and no
// Status is asked for, an Insert or Delete is one sort and on average one merge. Nothing is left pending.
//
// Updates count from the moment when they are recorded, unless the stream drops them: then all is as it was. What comes
// later, on other streams and without one, comes behind what was submitted, by itself; while updates are recorded, but
// not submitted, it is vk.ErrUnsubmitted. So are updates while another stream has queries recorded, but not submitted.
// The memory for levels is allocated here when they are needed first; Options.Capacity has it allocated before.
//
// Errors: *structures.KindError, *structures.LengthError, *structures.LimitError, *vk.OutOfMemoryError,
// vk.ErrUnsubmitted, what making a kernel may return; nothing is changed then. What is refused before its first command
// leaves the stream as it was; after that the stream drops its batch.
func (l *LSM) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return l.core.UpdateOn(ctx, s, kind, b)
}

// Finish waits for the stream: no batch leaves anything pending.
func (l *LSM) Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return l.core.Finish(ctx, s, kind, b)
}
