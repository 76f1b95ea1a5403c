package recording

import (
	"sync"

	"github.com/vkds/vkds/vk"
)

// Scratch is temporary device memory for what is recorded into streams. Each stream has memory of its own, which grows
// by being replaced: what was there before is freed behind the work that names it. That of a stream which was closed
// goes when another one comes. Several goroutines may use one, each with streams of its own.
type Scratch struct {
	d  *vk.Device
	mu sync.Mutex
	of map[*vk.Stream]*vk.Buffer[uint32]
}

// NewScratch has no memory yet.
func NewScratch(d *vk.Device) Scratch { return Scratch{d: d, of: map[*vk.Stream]*vk.Buffer[uint32]{}} }

// Take returns the address of so many bytes for what is recorded into a stream next, after all that was recorded into
// it before. Where they can't be had, the stream drops its batch, as Kernel has it.
func (c *Scratch) Take(s *vk.Stream, bytes int) (uint64, error) { return c.take(s, s, nil, bytes) }

// TakeShared is Take of memory that all streams share, for work that never overlaps, whatever streams it is on. uses
// knows of that work: what is replaced may be in use on another stream, and this one drop the batch that comes behind
// it.
func (c *Scratch) TakeShared(s *vk.Stream, uses *vk.Uses, bytes int) (uint64, error) {
	return c.take(nil, s, uses, bytes)
}

func (c *Scratch) take(owner, s *vk.Stream, uses *vk.Uses, bytes int) (uint64, error) {
	if s.Rehearsal() != nil {
		return Align, nil // which nothing is written to
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	words := (bytes + 3) / 4
	want := words
	have := c.of[owner]
	if have != nil {
		if have.Len() >= words {
			return have.Address(), nil
		}
		want = max(words, 2*have.Len()) // so that what is replaced stays less than what is in use
	} else {
		c.sweep()
	}
	b, err := vk.NewBuffer[uint32](c.d, want)
	if err != nil && want > words {
		b, err = vk.NewBuffer[uint32](c.d, words)
	}
	if err != nil {
		s.Fail(err)
		return 0, err
	}
	switch {
	case have != nil && uses != nil:
		s.Finally(func() { uses.Free(have.Free) })
	case have != nil:
		s.Finally(have.Free)
	}
	c.of[owner] = b
	return b.Address(), nil
}

// sweep frees what streams had that are closed: their work has ended. The lock is held.
func (c *Scratch) sweep() {
	for s, b := range c.of {
		if ended(c.d, s) {
			b.Free()
			delete(c.of, s)
		}
	}
}

// ended says that a stream is closed.
func ended(d *vk.Device, s *vk.Stream) bool { return s != nil && d.Accept("stream", s) == vk.ErrClosed }

// Of is the buffer that Take gave last for a stream.
func (c *Scratch) Of(s *vk.Stream) *vk.Buffer[uint32] {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[s]
}

// Release frees the memory, behind the work that names it.
func (c *Scratch) Release(uses *vk.Uses) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for s, b := range c.of {
		uses.Free(b.Free)
		delete(c.of, s)
	}
}

// Bytes is how much memory there is, but for what was replaced and is still in use.
func (c *Scratch) Bytes() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var sum uint64
	for _, b := range c.of {
		sum += b.Bytes()
	}
	return sum
}
