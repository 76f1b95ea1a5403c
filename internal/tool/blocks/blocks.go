// Package blocks reads a text in blocks of whole lines, which all cores parse and the caller uses in order.
package blocks

import (
	"bufio"
	"bytes"
	"io"
	"runtime"
)

// Bytes is the default size of the text that one goroutine parses at a time.
const Bytes = 1 << 20

// Block is a part of a text. It ends at the end of a line, unless that line is longer than a block.
type Block[T any] struct {
	Text []byte
	Err  error // the error after the text: io.EOF, or why no more can be read

	parsed T
	done   chan struct{} // closed when parsed is ready; nil: the block is not parsed
}

// Parsed waits until the block is parsed, and returns the result, or nil if the block is not parsed.
func (x *Block[T]) Parsed() *T {
	if x.done == nil {
		return nil
	}
	<-x.done
	return &x.parsed
}

// Reader divides a text into blocks at the ends of lines and reads some of them ahead. A goroutine parses each block,
// while the goroutine that calls the Reader's methods uses the blocks in order. A goroutine ends with its block, so a
// Reader needs no Close.
type Reader[T any] struct {
	// Parse, if not nil, parses the blocks that are read afterwards, from an index of the text on. last: the end of the
	// text also ends its last line.
	Parse func(into *T, text []byte, from int, last bool)
	// At is the index in the first block's text at which reading continues.
	At int

	from  io.Reader
	bytes int // the greatest size of a block
	ahead int // the number of blocks that may wait
	eager bool
	queue []*Block[T] // the first one is in use
	used  int
	free  []*Block[T]
	rest  []byte // what was read after the last whole line
	err   error
}

// New returns a reader of blocks of at most that many bytes. If eager, it reads ahead even if a block is ready. That is
// for files, from which a read does not wait for a writer.
func New[T any](from io.Reader, bytes int, eager bool) *Reader[T] {
	return &Reader[T]{from: from, bytes: bytes, ahead: runtime.GOMAXPROCS(0) + 1, eager: eager}
}

// Now returns the block in use. At the end of the text this is the last one, with nothing left in it.
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

// Used returns the number of blocks that were used up.
func (b *Reader[T]) Used() int { return b.used }

// take removes the first block from the queue.
func (b *Reader[T]) take() *Block[T] {
	first := b.queue[0]
	first.Parsed() // because its memory is reused
	copy(b.queue, b.queue[1:])
	b.queue, b.At, b.used = b.queue[:len(b.queue)-1], 0, b.used+1
	return first
}

// read reads a block and starts its parsing. If a single Read of the source returns a whole line, that is enough.
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
	if b.err != nil || end < 0 { // the end, or a part of a long line
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

// ReadSlice is that of bufio.Reader.
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
