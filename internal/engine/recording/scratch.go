package recording

import (
	"errors"
	"sync"

	"github.com/vkds/vkds/vk"
)

// Scratch is temporary device memory for work that is recorded into streams. Each stream has its own memory. To grow,
// the memory is replaced, and the old memory is freed after the work that uses it. Memory of a closed stream is freed
// when memory for a new stream is taken. Several goroutines may use one Scratch, each with its own streams.
type Scratch struct {
	d  *vk.Device
	mu sync.Mutex
	of map[*vk.Stream]*vk.Buffer[uint32]
}

// NewScratch returns a Scratch without memory.
func NewScratch(d *vk.Device) Scratch { return Scratch{d: d, of: map[*vk.Stream]*vk.Buffer[uint32]{}} }

// Take returns the address of the given number of bytes for the next work on a stream, which uses them after all work
// recorded there before. If they can't be allocated, the stream drops its batch, as with Kernel.
func (c *Scratch) Take(s *vk.Stream, bytes int) (uint64, error) { return c.take(s, s, nil, bytes) }

// TakeShared is Take for memory that all streams share, for work that never overlaps. uses must know this work: memory
// that is replaced may be in use on another stream, and this stream may drop its batch, which would have come after
// that.
func (c *Scratch) TakeShared(s *vk.Stream, uses *vk.Uses, bytes int) (uint64, error) {
	return c.take(nil, s, uses, bytes)
}

func (c *Scratch) take(owner, s *vk.Stream, uses *vk.Uses, bytes int) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	words := (bytes + 3) / 4
	want := words
	have := c.of[owner]
	if have != nil {
		if have.Len() >= words {
			return have.Address(), nil
		}
		want = max(words, 2*have.Len()) // so that replaced memory is never more than the memory in use
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

// sweep frees the memory of streams that are closed, whose work has ended. The lock is held.
func (c *Scratch) sweep() {
	for s, b := range c.of {
		if ended(c.d, s) {
			b.Free()
			delete(c.of, s)
		}
	}
}

// ended reports whether a stream is closed.
func ended(d *vk.Device, s *vk.Stream) bool {
	return s != nil && errors.Is(d.Accept("stream", s), vk.ErrClosed)
}

// Of returns the buffer that Take last returned for a stream.
func (c *Scratch) Of(s *vk.Stream) *vk.Buffer[uint32] {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[s]
}

// Release frees the memory after the work that uses it.
func (c *Scratch) Release(uses *vk.Uses) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for s, b := range c.of {
		uses.Free(b.Free)
		delete(c.of, s)
	}
}

// Bytes returns the size of the memory in bytes, without replaced memory that is still in use.
func (c *Scratch) Bytes() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var sum uint64
	for _, b := range c.of {
		sum += b.Bytes()
	}
	return sum
}
