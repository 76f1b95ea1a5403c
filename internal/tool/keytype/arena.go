package keytype

import (
	"fmt"
	"slices"
	"sync"

	"github.com/vkds/vkds/internal/engine/threads"
)

// Longest is the greatest length of a text in bytes.
const Longest = 4 << 20

// Arena has texts, with numbers from 0. The zero value is empty. Only one goroutine at a time may change it; any number
// may read it in between.
type Arena struct {
	blocks [][]byte
	at     int    // the block for the next text
	places []span // of the texts
	bytes  int
}

// span is where a text is: the index of its block, its place there, and its length.
type span uint64

const (
	lengthBits = 24
	offsetBits = 22
)

func (s span) block() int  { return int(s >> (lengthBits + offsetBits)) }
func (s span) offset() int { return int(s >> lengthBits & (1<<offsetBits - 1)) }
func (s span) length() int { return int(s & (1<<lengthBits - 1)) }

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
	copy(a.reserve(len(text)), text)
	return uint64(len(a.places) - 1)
}

// reserve adds a text of that length, whose bytes are still to be set.
func (a *Arena) reserve(length int) []byte {
	if length >= 1<<lengthBits {
		panic(fmt.Sprintf("keytype: a text of %d bytes in an Arena", length))
	}
	b := a.room(length)
	offset := len(*b)
	*b = (*b)[:offset+length]
	a.places = append(a.places, span(a.at)<<(lengthBits+offsetBits)|span(offset)<<lengthBits|span(length))
	a.bytes += length
	return (*b)[offset:]
}

// AddAll adds parts of a text, whose begins and ends alternate and ascend, until the arena is full, and returns how
// many it added.
func (a *Arena) AddAll(text []byte, ends []uint32) (added int) {
	if a.addTogether(text, ends) {
		return len(ends) / 2
	}
	first, before := len(a.places), a.bytes
	for ; 2*added < len(ends) && !a.Full(); added++ {
		a.reserve(int(ends[2*added+1] - ends[2*added]))
	}
	threads.Each(added, a.bytes-before, func(from, to int) {
		for i := from; i < to; i++ {
			copy(a.At(uint64(first+i)), text[ends[2*i]:ends[2*i+1]])
		}
	})
	return added
}

// addTogether is AddAll for parts that are most of the text: it copies what is between them as well. It returns false
// if they are not, or too long for one block.
func (a *Arena) addTogether(text []byte, ends []uint32) bool {
	if len(ends) == 0 {
		return false
	}
	bytes, begin := 0, ends[0]
	for i := 0; i < len(ends); i += 2 {
		bytes += int(ends[i+1] - ends[i])
	}
	text = text[begin:ends[len(ends)-1]]
	if len(text) > 2*bytes || len(text) > fullBlock || a.bytes+bytes >= fullBytes {
		return false
	}
	b := a.room(len(text))
	offset := len(*b)
	if offset+len(text) >= 1<<offsetBits {
		return false
	}
	*b = (*b)[:offset+len(text)]
	threads.Copy((*b)[offset:], text)
	block := span(a.at)<<(lengthBits+offsetBits) + span(offset)<<lengthBits
	a.places = slices.Grow(a.places, len(ends)/2)
	for i := 0; i < len(ends); i += 2 {
		a.places = append(a.places, block+span(ends[i]-begin)<<lengthBits+span(ends[i+1]-ends[i]))
	}
	a.bytes += bytes
	return true
}

// room returns a block that has room for that many bytes.
func (a *Arena) room(bytes int) *[]byte {
	for ; a.at < len(a.blocks); a.at++ {
		if b := &a.blocks[a.at]; cap(*b)-len(*b) >= bytes && len(*b) < 1<<offsetBits {
			return b
		}
	}
	size := min(fullBlock, firstBlock<<min(len(a.blocks), 8))
	a.blocks = append(a.blocks, make([]byte, 0, max(bytes, size)))
	return &a.blocks[a.at]
}

// At returns the text of a number. It is valid until Reset, and must not be changed.
func (a *Arena) At(number uint64) []byte {
	s := a.places[number]
	end := s.offset() + s.length()
	return a.blocks[s.block()][s.offset():end:end]
}

// AddSome is AddAll for texts of another arena.
func (a *Arena) AddSome(some Some) (added int) {
	first, before := len(a.places), a.bytes
	for ; added < some.Len() && !a.Full(); added++ {
		a.reserve(some.places[some.Numbers[added]].length())
	}
	threads.Each(added, a.bytes-before, func(from, to int) {
		for i := from; i < to; i++ {
			copy(a.At(uint64(first+i)), some.At(i))
		}
	})
	return added
}

// Ahead reads a byte of each of some texts, at most MostAhead, so that the processor waits for many of them at once.
// Nobody uses the sum, and it is not inlined: else the compiler would leave out the reads.
//
//go:noinline
func (a *Arena) Ahead(numbers []uint64) (sum uint64) {
	var places [MostAhead]span
	for i, number := range numbers {
		places[i] = a.places[number]
	}
	for _, s := range places[:len(numbers)] {
		if s.length() > 0 {
			sum += uint64(a.blocks[s.block()][s.offset()])
		}
	}
	return sum
}

// MostAhead is how many texts are read ahead at a time.
const MostAhead = 64

// Len returns the number of texts.
func (a *Arena) Len() int { return len(a.places) }

// Bytes returns the total length of the texts.
func (a *Arena) Bytes() int { return a.bytes }

// Full reports whether the texts are enough for one part of a file.
func (a *Arena) Full() bool { return a.bytes >= fullBytes }

// Joined returns an arena with the texts of others, and for each of them the number of its first text. They share
// memory: the others must not change any more, and it must not be Reset or Truncated. Texts may be added to it.
func Joined(others []*Arena) (a *Arena, firsts []uint64) {
	a = &Arena{}
	n := 0
	for _, other := range others {
		firsts = append(firsts, uint64(n))
		n += len(other.places)
		a.bytes += other.bytes
	}
	a.places = make([]span, n)
	var wait sync.WaitGroup
	for i, other := range others {
		places, blocks := a.places[firsts[i]:], span(len(a.blocks))<<(lengthBits+offsetBits)
		wait.Go(func() {
			for k, place := range other.places {
				places[k] = blocks + place
			}
		})
		a.blocks = append(a.blocks, other.blocks...)
	}
	wait.Wait()
	a.at = len(a.blocks) // because others may share the blocks too
	return a, firsts
}

// Truncate removes the texts with numbers from n on.
func (a *Arena) Truncate(n int) {
	for last := len(a.places) - 1; last >= n; last-- {
		s := a.places[last]
		a.bytes -= s.length()
		for a.blocks[a.at] = a.blocks[a.at][:0]; a.at > s.block(); a.blocks[a.at] = a.blocks[a.at][:0] {
			a.at--
		}
		a.blocks[a.at], a.places = a.blocks[a.at][:s.offset()], a.places[:last]
	}
}

// Reset removes all texts, and keeps their memory.
func (a *Arena) Reset() {
	for i := range a.blocks {
		a.blocks[i] = a.blocks[i][:0]
	}
	a.at, a.places, a.bytes = 0, a.places[:0], 0
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
