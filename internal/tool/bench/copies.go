package bench

import (
	"context"
	"errors"
	"unsafe"

	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/vk"
)

// copies carries bytes to a device and back, and has nothing done to them: what calls with slices can't do without. As
// these do, it has three chunks in flight, each with staging memory of its own, which it keeps.
type copies struct {
	d      *vk.Device
	direct bool // the device's memory is the host's: there is nothing to copy beside the staging memory
	slots  [3]copySlot
}

type copySlot struct {
	stream *vk.Stream
	host   *vk.HostBuffer[byte]
	device *vk.Buffer[byte]
	out    func() // copies what has come back to its slices
}

func newCopies(d *vk.Device) (*copies, error) {
	kind := d.Info().Type
	c := &copies{d: d, direct: kind == vk.CPU || kind == vk.Integrated}
	for i := range c.slots {
		var err error
		if c.slots[i].stream, err = d.NewStream(); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
}

// chunk is how many operations go at once.
func (c *copies) chunk() int {
	if c.d.Info().Type == vk.CPU {
		return 1 << 17
	}
	return 1 << 21
}

// run carries what n operations bring and what they result in.
func (c *copies) run(ctx context.Context, n int, in, out [][]byte) error {
	chunk := c.chunk()
	for turn, first := 0, 0; first < n; turn, first = turn+1, first+chunk {
		s := &c.slots[turn%len(c.slots)]
		if err := s.end(ctx); err != nil {
			return err
		}
		if err := c.begin(s, n, first, min(chunk, n-first), in, out); err != nil {
			return err
		}
	}
	return c.end(ctx)
}

func (c *copies) end(ctx context.Context) error {
	var err error
	for i := range c.slots {
		err = errors.Join(err, c.slots[i].end(ctx))
	}
	return err
}

func (s *copySlot) end(ctx context.Context) error {
	if s.out == nil {
		return nil
	}
	err := s.stream.Wait(ctx)
	if err == nil {
		s.out()
	}
	s.out = nil
	return err
}

// begin sends a chunk on its way.
func (c *copies) begin(s *copySlot, n, first, count int, in, out [][]byte) error {
	part := func(b []byte) []byte { return b[len(b)/n*first : len(b)/n*(first+count)] }
	sum := func(all [][]byte) (bytes int) {
		for _, b := range all {
			bytes += len(part(b))
		}
		return bytes
	}
	up, down := sum(in), sum(out)
	if err := c.reserve(s, up+down); err != nil {
		return err
	}
	to := s.host.Slice()
	for _, b := range in {
		threads.Copy(to[:len(part(b))], part(b))
		to = to[len(part(b)):]
	}
	if !c.direct {
		s.stream.Copy(s.device, 0, s.host, 0, up)
		s.stream.Copy(s.host, up, s.device, up, down)
	}
	s.out = func() {
		from := s.host.Slice()[up:]
		for _, b := range out {
			threads.Copy(part(b), from[:len(part(b))])
			from = from[len(part(b)):]
		}
	}
	_, err := s.stream.Submit()
	return err
}

func (c *copies) reserve(s *copySlot, bytes int) error {
	if s.host != nil && s.host.Len() >= bytes {
		return nil
	}
	s.free()
	var err error
	if s.host, err = vk.NewHostBuffer[byte](c.d, bytes); err == nil && !c.direct {
		s.device, err = vk.NewBuffer[byte](c.d, bytes)
	}
	return err
}

func (s *copySlot) free() {
	if s.host != nil {
		s.host.Free()
	}
	if s.device != nil {
		s.device.Free()
	}
	s.host, s.device = nil, nil
}

func (c *copies) close() error {
	var err error
	for i := range c.slots {
		if s := &c.slots[i]; s.stream != nil {
			err = errors.Join(err, s.stream.Close())
			s.free()
		}
	}
	return err
}

// bytesOf is the memory of a slice.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}
