// Package blocks reads a text in blocks of whole lines, which are parsed by all cores and used in their order.
package blocks

import (
	"bufio"
	"bytes"
	"io"
	"runtime"
)

// Bytes is how much text one goroutine parses at a time, if nothing else is asked for.
const Bytes = 1 << 20

// Block is a part of a text. It ends at the end of a line, unless that line is longer than a block.
type Block[T any] struct {
	Text []byte
	Err  error // follows the text: io.EOF, or why no more can be read

	parsed T
	done   chan struct{} // closed when parsed is there; nil: nobody has parsed it
}

// Parsed waits until the block is parsed, and returns what was found in it, or nil if nobody parses it.
func (x *Block[T]) Parsed() *T {
	if x.done == nil {
		return nil
	}
	<-x.done
	return &x.parsed
}

// Reader cuts a text into blocks at the ends of lines and reads some of them ahead. Each is parsed by a goroutine of
// its own, while the goroutine that calls the Reader's methods uses them in order. A goroutine ends with its block, so
// a Reader needs no Close.
type Reader[T any] struct {
	// Parse, if not nil, parses the blocks that are read from then on: a text from a place on. last says that the
	// text's end ends a line.
	Parse func(into *T, text []byte, from int, last bool)
	// At is the place in the first block's text where reading goes on.
	At int

	from  io.Reader
	bytes int // of a block, at most
	ahead int // so many blocks may wait
	eager bool
	queue []*Block[T] // the first one is being used
	used  int
	free  []*Block[T]
	rest  []byte // read, but after the last whole line
	err   error
}

// New returns a reader of blocks of at most so many bytes. An eager one reads ahead although what is needed may be
// there: that is for files, which nobody has to wait for.
func New[T any](from io.Reader, bytes int, eager bool) *Reader[T] {
	return &Reader[T]{from: from, bytes: bytes, ahead: runtime.GOMAXPROCS(0) + 1, eager: eager}
}

// Now returns the block that is being used. At the end of the text that is the last one, with nothing left in it.
func (b *Reader[T]) Now() *Block[T] {
	for len(b.queue) == 0 || b.At == len(b.queue[0].Text) && b.queue[0].Err == nil {
		if len(b.queue) > 0 {
			b.free = append(b.free, b.take())
		}
		if len(b.queue) == 0 {
			b.read()
		}
	}
	for b.eager && len(b.queue) < b.ahead && b.err == nil {
		b.read()
	}
	return b.queue[0]
}

// Used returns how many blocks were used up.
func (b *Reader[T]) Used() int { return b.used }

// take takes the first block out of the queue.
func (b *Reader[T]) take() *Block[T] {
	first := b.queue[0]
	first.Parsed() // since it is used again
	copy(b.queue, b.queue[1:])
	b.queue, b.At, b.used = b.queue[:len(b.queue)-1], 0, b.used+1
	return first
}

// read reads a block, and has it parsed. It returns what a reader has at once, if that has a whole line.
func (b *Reader[T]) read() {
	next := &Block[T]{}
	if n := len(b.free); n > 0 {
		next, b.free = b.free[n-1], b.free[:n-1]
	}
	next.done = nil
	if cap(next.Text) < b.bytes {
		next.Text = make([]byte, 0, b.bytes)
	}
	text, end := append(next.Text[:0], b.rest...), -1
	for end < 0 && b.err == nil && len(text) < b.bytes {
		n := 0
		if n, b.err = b.from.Read(text[len(text):b.bytes]); n > 0 {
			end = bytes.LastIndexByte(text[len(text):len(text)+n], '\n')
			if end >= 0 {
				end += len(text) + 1
			}
			text = text[:len(text)+n]
		}
	}
	if b.err != nil || end < 0 { // the last one, or a part of a long line
		end = len(text)
	}
	b.rest = append(b.rest[:0], text[end:]...)
	next.Text, next.Err = text[:end], b.err
	if b.queue = append(b.queue, next); b.Parse != nil {
		next.done = make(chan struct{})
		go next.parse(b.Parse)
	}
}

func (x *Block[T]) parse(by func(*T, []byte, int, bool)) {
	defer close(x.done)
	by(&x.parsed, x.Text, 0, x.Err == io.EOF)
}

// ReadSlice is as bufio.Reader has it.
func (b *Reader[T]) ReadSlice(delimiter byte) (line []byte, err error) {
	now := b.Now()
	line = now.Text[b.At:]
	if end := bytes.IndexByte(line, delimiter); end >= 0 {
		b.At += end + 1
		return line[:end+1], nil
	}
	if b.At = len(now.Text); now.Err == nil {
		return line, bufio.ErrBufferFull
	}
	return line, now.Err
}
