package filter

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// OnStream has the methods of a Filter that record work on a stream.
type OnStream struct {
	core   *core
	stream *vk.Stream
}

// Insert records the insertion of keys. Of the batch it uses Count, DeviceCount, First and Keys. All keys are inserted
// when the stream has done the batch.
//
// Errors: *structures.LengthError, *structures.CountError, *vk.ForeignError, and vk.ErrClosed if the filter, the stream
// or a buffer is closed or was freed. Then nothing was recorded.
func (o OnStream) Insert(b structures.DeviceBatch) error {
	c, s := o.core, o.stream
	if err := c.Enter(context.Background()); err != nil {
		return err
	}
	defer c.Leave()
	end, err := recording.End(b)
	if err != nil {
		return err
	}
	err = cmp.Or(c.Device.Accept("stream", s), b.Made.Check(c.width),
		recording.NeedNumbers(c.Device, b.Keys, "keys", b.Count, end, c.width),
		recording.NeedCount(c.Device, b.DeviceCount, b.Count))
	if err != nil || b.Count == 0 {
		return err
	}
	c.Meter.Batch(structures.Insert, b.Count)
	return c.Changing(s, func() error {
		count := recording.Length{At: b.DeviceCount.Address(), N: uint32(b.Count)}
		return c.recordInsert(s, recording.At(b.Keys, b.First<<c.width), count)
	})
}

// Contains records lookups. It uses all fields of l but Values and Order. Errors: those of Insert.
func (o OnStream) Contains(l structures.DeviceLookups) error {
	c, s := o.core, o.stream
	if err := c.EnterShared(context.Background()); err != nil {
		return err
	}
	defer c.LeaveShared()
	d := c.Device
	err := cmp.Or(d.Accept("stream", s), l.Made.Check(c.width),
		recording.NeedNumbers(d, l.Keys, "keys", l.Count, l.Count, c.width),
		recording.NeedFound(d, l), recording.NeedCount(d, l.DeviceCount, l.Count))
	if err != nil || l.Count == 0 {
		return err
	}
	c.Meter.Query(l.Count)
	return c.Using(s, func() error {
		return c.Own.Find(s, l, func(found uint64) error {
			count := recording.Length{At: l.DeviceCount.Address(), N: uint32(l.Count)}
			return c.recordContains(s, l.Keys.Address(), found, count)
		})
	})
}
