package keytype

import "encoding/binary"

// Longest is how many bytes a text may have.
const Longest = 4 << 20

// Arena holds texts, one behind the other, and gives each its number, from 0. The zero value holds none. It is changed
// by one goroutine at a time, and read by any number while it isn't.
type Arena struct {
	blocks [][]byte // texts, each behind its length
	at     int      // the block that is being filled
	starts []uint64 // of each text: its block in the high word, its place there in the low one
	bytes  int
}

const (
	firstBlock = 64 << 10 // bytes: most arenas of a command line's keys stay in it
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

// room returns a block that has room for so many bytes more.
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

// At returns a text by its number. It stays valid until Reset, and is not to be changed.
func (a *Arena) At(number uint64) []byte {
	start := a.starts[number]
	b := a.blocks[start>>32][uint32(start):]
	length, prefix := binary.Uvarint(b)
	end := prefix + int(length)
	return b[prefix:end:end]
}

// Len is how many texts there are.
func (a *Arena) Len() int { return len(a.starts) }

// Bytes is how long they are together.
func (a *Arena) Bytes() int { return a.bytes }

// Full says that a part of a file, of however many rows, has enough bytes.
func (a *Arena) Full() bool { return a.bytes >= fullBytes }

// Truncate takes those texts away whose numbers are n and more.
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

// Reset takes all texts away, and keeps their memory for others.
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

// At returns the i-th of them.
func (s Some) At(i int) []byte { return s.Arena.At(s.Numbers[i]) }

// Len is how many they are.
func (s Some) Len() int { return len(s.Numbers) }
