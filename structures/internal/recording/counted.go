package recording

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Length is Length of shaders/include/length.glsl: how many elements there are, or with At the most that there may be.
type Length struct {
	At uint64
	N  uint32
}

// NeedCount is Need of the word in device memory that says how many of up to so many operations there are, or nil.
func NeedCount(d *vk.Device, b *vk.Buffer[uint32], count int) error {
	if b == nil {
		return nil
	}
	return Need(d, b, "words for their number", count, 1)
}

// Counted returns a batch of updates whose number the host knows, for a structure that has to: where the device alone
// knew it, it waits for the stream, and so submits what that has recorded.
func Counted(ctx context.Context, s *vk.Stream, b structures.DeviceBatch) (structures.DeviceBatch, error) {
	if b.DeviceCount == nil || b.Count == 0 {
		return b, nil
	}
	var word [1]uint32
	err := cmp.Or(s.Wait(context.WithoutCancel(ctx)), ctx.Err())
	if err == nil {
		err = b.DeviceCount.Download(ctx, 0, word[:])
	}
	b.Count, b.DeviceCount = int(min(uint64(word[0]), uint64(b.Count))), nil
	return b, err
}

type boundPush struct {
	Statuses, Kinds, Values uint64
	Count                   Length
	Kind                    uint32
}

// Batch is a batch of concurrent operations as it is to be recorded: with a Status and a Left, and, where retry says so
// then, as one of which only what is pending is to be done, be it that the batch is done once more (retry) or that the
// device alone knows how many operations it has.
func (o *Own) Batch(s *vk.Stream, kind structures.Kind, b structures.DeviceBatch,
	retry bool) (structures.DeviceBatch, bool,
	error) {
	b, err := o.outcomesOf(s, b)
	if err == nil && !retry {
		retry, err = o.bounded(s, kind, b)
	}
	return b, retry, err
}

// bounded records of a batch with a DeviceCount that the operations behind that count as done, and the others as
// pending. Other batches it leaves alone.
func (o *Own) bounded(s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) (retry bool, err error) {
	if b.DeviceCount == nil {
		return false, nil
	}
	k, err := Kernel[boundPush](o.kernels, s, "recording/bound", 64)
	if err != nil {
		return false, err
	}
	k.Dispatch(s, (b.Count+255)/256, boundPush{
		b.Status.Address(), b.Kinds.Address(), At(b.Values, b.First), Length{b.DeviceCount.Address(), uint32(b.Count)},
		uint32(kind),
	})
	return true, nil
}
