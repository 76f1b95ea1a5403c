package recording

import (
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Length is Length of shaders/include/length.glsl. N is the number of elements. If At is set, N is the greatest
// possible number, and At the address of the actual one.
type Length struct {
	At uint64
	N  uint32
}

// NeedCount is Need for a DeviceCount, which may be nil.
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

func (o *Own) boundKernel() Spec[boundPush] {
	return Of[boundPush](Sized("recording/bound", o.width), 64)
}

// BatchKernels lists the kernels of Batch.
func (o *Own) BatchKernels() Table { return Table{o.boundKernel(), ClearKernel()} }

// Batch prepares a batch of concurrent operations for recording: it adds a Status and a Left if they are missing. If
// the returned bool is set, only operations that are pending are to be done. This is the case if the batch is done
// again (retry), and if only the device knows the number of operations.
func (o *Own) Batch(s *vk.Stream, kind structures.Kind, b structures.DeviceBatch,
	retry bool) (structures.DeviceBatch, bool,
	error) {
	b, err := o.outcomesOf(s, b)
	if err == nil && !retry {
		retry, err = o.bounded(s, kind, b)
	}
	return b, retry, err
}

// bounded records, for a batch with a DeviceCount, that operations from that count on become done and the others
// pending. It does nothing for other batches.
func (o *Own) bounded(s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) (retry bool, err error) {
	if b.DeviceCount == nil {
		return false, nil
	}
	k, err := o.boundKernel().Kernel(o.kernels, s)
	if err != nil {
		return false, err
	}
	k.Dispatch(s, (b.Count+255)/256, boundPush{
		b.Status.Address(), b.Kinds.Address(), At(b.Values, b.First<<o.width),
		Length{b.DeviceCount.Address(), uint32(b.Count)}, uint32(kind),
	})
	return true, nil
}
