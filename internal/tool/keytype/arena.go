package keytype

import (
	"encoding/binary"
	"sync"
)

// Longest is the greatest length of a text in bytes.
const Longest = 4 << 20

// Arena has texts, with numbers from 0. The zero value is empty. Only one goroutine at a time may change it; any number
// may read it in between.
type Arena struct {
	blocks [][]byte // texts, each after its length
	at     int      // the block for the next text
	starts []uint64 // for each text: the index of its block in the high word, and its offset there in the low one
	bytes  int
}

const (
	firstBlock = 64 << 10 // bytes; enough for most command lines
	fullBlock  = 4 << 20
	fullBytes  = 64 << 20
)

// Add adds a copy of a text and returns its number.
func (a *Arena) Add(text []byte) (number uint64) { return add(a, text) }

// AddString is Add for a string.
func (a *Arena) AddString(text string) (number uint64) { return add(a, text) }

func add[T string | []byte](a *Arena, text T) (number uint64) {
	b := a.room(len(text) + binary.MaxVarintLen32)
	a.starts = append(a.starts, uint64(a.at)<<32|uint64(len(*b)))
	*b = append(binary.AppendUvarint(*b, uint64(len(text))), text...)
	a.bytes += len(text)
	return uint64(len(a.starts) - 1)
}

// room returns a block that has room for that many bytes.
func (a *Arena) room(bytes int) *[]byte {
	for ; a.at < len(a.blocks); a.at++ {
		if b := &a.blocks[a.at]; cap(*b)-len(*b) >= bytes {
			return b
		}
	}
	size := min(fullBlock, firstBlock<<min(len(a.blocks), 8))
	a.blocks = append(a.blocks, make([]byte, 0, max(bytes, size)))
	return &a.blocks[a.at]
}

// At returns the text of a number. It is valid until Reset, and must not be changed.
func (a *Arena) At(number uint64) []byte {
	start := a.starts[number]
	b := a.blocks[start>>32][uint32(start):]
	length, prefix := binary.Uvarint(b)
	end := prefix + int(length)
	return b[prefix:end:end]
}

// Len returns the number of texts.
func (a *Arena) Len() int { return len(a.starts) }

// Bytes returns the total length of the texts.
func (a *Arena) Bytes() int { return a.bytes }

// Full reports whether the texts are enough for one part of a file.
func (a *Arena) Full() bool { return a.bytes >= fullBytes }

// Joined returns an arena with the texts of others, which must not change any more, and for each of them the number of
// its first text.
func Joined(others []*Arena) (a *Arena, firsts []uint64) {
	a = &Arena{}
	n := 0
	for _, other := range others {
		firsts = append(firsts, uint64(n))
		n += len(other.starts)
		a.bytes += other.bytes
	}
	a.starts = make([]uint64, n)
	var wait sync.WaitGroup
	for i, other := range others {
		starts, blocks := a.starts[firsts[i]:], uint64(len(a.blocks))<<32
		wait.Go(func() {
			for k, start := range other.starts {
				starts[k] = blocks + start
			}
		})
		a.blocks = append(a.blocks, other.blocks...)
	}
	wait.Wait()
	a.at = max(0, len(a.blocks)-1)
	return a, firsts
}

// Truncate removes the texts with numbers from n on.
func (a *Arena) Truncate(n int) {
	for last := len(a.starts) - 1; last >= n; last-- {
		a.bytes -= len(a.At(uint64(last)))
		start := a.starts[last]
		for a.blocks[a.at] = a.blocks[a.at][:0]; a.at > int(start>>32); a.blocks[a.at] = a.blocks[a.at][:0] {
			a.at--
		}
		a.blocks[a.at], a.starts = a.blocks[a.at][:uint32(start)], a.starts[:last]
	}
}

// Reset removes all texts, and keeps their memory.
func (a *Arena) Reset() {
	for i := range a.blocks {
		a.blocks[i] = a.blocks[i][:0]
	}
	a.at, a.starts, a.bytes = 0, a.starts[:0], 0
}

// Some are some texts of an arena, in any order.
type Some struct {
	*Arena
	Numbers []uint64
}

// At returns text i of them.
func (s Some) At(i int) []byte { return s.Arena.At(s.Numbers[i]) }

// Len returns the number of texts.
func (s Some) Len() int { return len(s.Numbers) }
