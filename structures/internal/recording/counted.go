package recording

import (
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
	k, err := Kernel[boundPush](o.kernels, s, Sized("recording/bound", o.width), 64)
	if err != nil {
		return false, err
	}
	k.Dispatch(s, (b.Count+255)/256, boundPush{
		b.Status.Address(), b.Kinds.Address(), At(b.Values, b.First<<o.width),
		Length{b.DeviceCount.Address(), uint32(b.Count)}, uint32(kind),
	})
	return true, nil
}
