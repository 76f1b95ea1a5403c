package recording

import "github.com/vkds/vkds/vk"

// Scratch is temporary device memory for what is recorded into streams: of each stream the newest buffer; older ones may
// still be in use.
type Scratch struct {
	d  *vk.Device
	of map[*vk.Stream][]*vk.Buffer[uint32]
}

// NewScratch has no memory yet.
func NewScratch(d *vk.Device) Scratch { return Scratch{d, map[*vk.Stream][]*vk.Buffer[uint32]{}} }

// Take returns the address of so many bytes for what is recorded into a stream next, after all that was recorded into
// it before. A nil stream stands for work that never overlaps.
func (c *Scratch) Take(s *vk.Stream, bytes int) (uint64, error) {
	have := c.of[s]
	words := (bytes + 3) / 4
	want := words
	if n := len(have); n > 0 {
		last := have[n-1]
		if last.Len() >= words {
			return last.Address(), nil
		}
		want = max(words, 2*last.Len()) // so that what is replaced stays less than what is in use
	}
	b, err := vk.NewBuffer[uint32](c.d, want)
	if err != nil && want > words {
		b, err = vk.NewBuffer[uint32](c.d, words)
	}
	if err != nil {
		return 0, err
	}
	c.of[s] = append(have, b)
	return b.Address(), nil
}

// Newest is the buffer that Take gave last.
func (c *Scratch) Newest(s *vk.Stream) *vk.Buffer[uint32] { return c.of[s][len(c.of[s])-1] }

// Settle frees the buffers that were replaced, when no work is under way.
func (c *Scratch) Settle() {
	for s, all := range c.of {
		for _, b := range all[:len(all)-1] {
			b.Free()
		}
		c.of[s] = all[len(all)-1:]
	}
}

// Release frees all buffers, when no work is under way.
func (c *Scratch) Release() {
	for s, all := range c.of {
		for _, b := range all {
			b.Free()
		}
		delete(c.of, s)
	}
}

// Bytes is how much memory the buffers take.
func (c *Scratch) Bytes() uint64 {
	var sum uint64
	for _, all := range c.of {
		for _, b := range all {
			sum += b.Bytes()
		}
	}
	return sum
}
