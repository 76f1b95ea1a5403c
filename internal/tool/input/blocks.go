package input

import (
	"bufio"
	"bytes"
	"io"
	"runtime"
)

// blockBytes is how much text is parsed at a time by one goroutine.
const blockBytes = 1 << 20

// block is a part of a text, which ends at the end of a line, unless that is very long.
type block struct {
	text   []byte
	err    error // what stands behind the text: io.EOF, or why no more can be read
	parsed parsed
	done   chan struct{} // closed when parsed is there; nil: nobody has parsed it
}

// blocks cuts a text into blocks at ends of lines, reads some of them ahead, and has each parsed by a goroutine of its
// own, while another goroutine, which is the only one that calls its methods, uses them in their order. Nothing is left
// running when no method is: goroutines end with their block.
type blocks struct {
	from  io.Reader
	bytes int      // of a block, at most
	ahead int      // so many blocks may wait
	plain *plain   // parses the blocks that are read from now on; nil: nobody does
	eager bool     // reads ahead although what is needed may be there: of a file, which has nobody wait
	queue []*block // the first one is being used
	taken int      // so many were used up
	free  []*block
	rest  []byte // read, but behind the last whole line
	err   error
	at    int // in the first block's text
}

func newBlocks(from io.Reader, bytes int) *blocks {
	return &blocks{from: from, bytes: bytes, ahead: runtime.GOMAXPROCS(0) + 1}
}

// now returns the block that is being used. At the end of all text it has nothing left.
func (b *blocks) now() *block {
	for len(b.queue) == 0 || b.at == len(b.queue[0].text) && b.queue[0].err == nil {
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

// take takes the first block out of the queue.
func (b *blocks) take() *block {
	first := b.queue[0]
	if first.done != nil {
		<-first.done // it is used again
	}
	copy(b.queue, b.queue[1:])
	b.queue, b.at, b.taken = b.queue[:len(b.queue)-1], 0, b.taken+1
	return first
}

// read reads a block, and has it parsed. It returns what a reader has at once, if that has a whole line.
func (b *blocks) read() {
	next := &block{}
	if n := len(b.free); n > 0 {
		next, b.free = b.free[n-1], b.free[:n-1]
	}
	next.done = nil
	if cap(next.text) < b.bytes {
		next.text = make([]byte, 0, b.bytes)
	}
	text, end := append(next.text[:0], b.rest...), -1
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
	if b.err != nil || end < 0 { // the last one, or a long line's part
		end = len(text)
	}
	b.rest = append(b.rest[:0], text[end:]...)
	next.text, next.err = text[:end], b.err
	if b.queue = append(b.queue, next); b.plain != nil {
		next.done = make(chan struct{})
		go next.parse(b.plain)
	}
}

func (x *block) parse(by *plain) {
	defer close(x.done)
	by.parse(&x.parsed, x.text, 0, x.err == io.EOF)
}

// ReadSlice is as bufio.Reader has it.
func (b *blocks) ReadSlice(delimiter byte) (line []byte, err error) {
	now := b.now()
	line = now.text[b.at:]
	if end := bytes.IndexByte(line, delimiter); end >= 0 {
		b.at += end + 1
		return line[:end+1], nil
	}
	if b.at = len(now.text); now.err == nil {
		return line, bufio.ErrBufferFull
	}
	return line, now.err
}
