package keytype

import (
	"fmt"
	"slices"
	"sync"

	"github.com/vkds/vkds/internal/engine/threads"
)

// Longest is the greatest length of a text in bytes.
const Longest = 4 << 20

// LongestServed is the greatest length of a text that a server takes.
const LongestServed = 64 << 10

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

// TextList has texts one after the other, which can be added to an Arena faster than one by one.
type TextList struct {
	bytes []byte
	ends  []uint32
}

// Add adds a copy of a text. Together, all must have less than 4 GiB.
func (l *TextList) Add(text []byte) {
	l.bytes = append(l.bytes, text...)
	l.ends = append(l.ends, uint32(len(l.bytes)))
}

// Len returns the number of texts.
func (l *TextList) Len() int { return len(l.ends) }

// Truncate removes the texts from n on.
func (l *TextList) Truncate(n int) {
	if n < len(l.ends) {
		l.bytes, l.ends = l.bytes[:l.begin(n)], l.ends[:n]
	}
}

// begin returns where text i begins.
func (l *TextList) begin(i int) int {
	if i == 0 {
		return 0
	}
	return int(l.ends[i-1])
}

// AddList adds copies of the texts of a list from one to before another, which have consecutive numbers, and returns
// the first number.
func (a *Arena) AddList(l *TextList, from, to int) (first uint64) {
	first = uint64(len(a.places))
	begin, end := l.begin(from), l.begin(to)
	b := a.room(end - begin)
	offset := len(*b)
	if offset+end-begin >= 1<<offsetBits { // one block is too small
		for i := from; i < to; i++ {
			a.Add(l.bytes[l.begin(i):l.ends[i]])
		}
		return first
	}
	*b = (*b)[:offset+end-begin]
	threads.Copy((*b)[offset:], l.bytes[begin:end])
	a.bytes += end - begin
	a.places = slices.Grow(a.places, to-from)
	block := span(a.at) << (lengthBits + offsetBits)
	for _, next := range l.ends[from:to] {
		a.places = append(a.places, block+span(offset)<<lengthBits+span(int(next)-begin))
		offset += int(next) - begin
		begin = int(next)
	}
	return first
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

// AddSome adds copies of texts of another arena until this one is full, and returns how many it added.
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
