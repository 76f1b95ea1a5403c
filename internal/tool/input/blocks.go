package input

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"runtime"
)

// BlockBytes is the default size of the text that one goroutine parses at a time.
const BlockBytes = 1 << 20

// Block is a part of a text. It ends at the end of a line, unless that line is longer than a block.
type Block[T any] struct {
	Text []byte
	Err  error // the error after the text: io.EOF, or why no more can be read

	loaded chan struct{} // closed when Text and Err are there; nil: they are
	parsed T
	done   chan struct{} // closed when parsed is ready; nil: the block is not parsed
}

// load waits until the text is there.
func (x *Block[T]) load() {
	if x.loaded != nil {
		<-x.loaded
	}
}

// Parsed waits until the block is parsed, and returns the result, or nil if the block is not parsed.
func (x *Block[T]) Parsed() *T {
	if x.done == nil {
		return nil
	}
	<-x.done
	return &x.parsed
}

// blockParser parses a text from an index on. last: the end of the text also ends its last line.
type blockParser[T any] = func(into *T, text []byte, from int, last bool)

// Blocks divides a text into blocks at the ends of lines and reads some of them ahead. A goroutine parses each block,
// while the goroutine that calls the methods of Blocks uses the blocks in order. A goroutine ends with its block, so
// Blocks need no Close.
type Blocks[T any] struct {
	// At is the index in the first block's text at which reading continues.
	At int
	// Rest, if not nil, says where the text goes on after that many of its bytes, or returns nil if it can't tell. It
	// is asked before each block, once there was the end of a line, until it can. Then all cores read the rest of the
	// text.
	Rest func(read int64) (rest io.ReaderAt, offset int64)

	parse blockParser[T] // nil: blocks are not parsed
	from  io.Reader
	read  int64       // bytes of from
	lines bool        // there was the end of a line in them
	rests io.ReaderAt // nil: the text is read from from
	next  int64       // the offset in rests of the next block
	tail  []byte
	bytes int // the greatest size of a block
	ahead int // the number of blocks that may wait
	eager bool
	queue []*Block[T] // the first one is in use
	used  int
	free  []*Block[T]
	rest  []byte // what was read after the last whole line
	err   error
}

// NewBlocks returns blocks of at most that many bytes. If eager, it reads ahead even if a block is ready. That is
// for files, from which a read does not wait for a writer.
func NewBlocks[T any](from io.Reader, bytes int, eager bool) *Blocks[T] {
	return &Blocks[T]{from: from, bytes: bytes, ahead: runtime.GOMAXPROCS(0) + 1, eager: eager}
}

// ParseBy has the blocks after the one in use parsed by a function, also those that wait already. They may have been
// parsed otherwise before. nil: those that are read from now on are not parsed.
func (b *Blocks[T]) ParseBy(parse blockParser[T]) {
	b.parse = parse
	if parse == nil {
		return
	}
	for _, next := range b.queue[min(1, len(b.queue)):] {
		next.parseLater(parse)
	}
}

// Now returns the block in use. At the end of the text this is the last one, with nothing left in it.
func (b *Blocks[T]) Now() *Block[T] {
	for len(b.queue) == 0 || b.usedUp() {
		if len(b.queue) > 0 {
			b.free = append(b.free, b.take())
		}
		if len(b.queue) == 0 {
			b.more()
		}
	}
	for b.eager && len(b.queue) < b.ahead && b.err == nil {
		b.more()
	}
	first := b.queue[0]
	first.load()
	return first
}

// usedUp reports whether another block follows the first one, of which everything was used.
func (b *Blocks[T]) usedUp() bool {
	first := b.queue[0]
	if first.load(); first.Err != nil { // what follows it was read in vain
		b.queue, b.err = b.queue[:1], first.Err
	}
	return b.At == len(first.Text) && first.Err == nil
}

// Used returns the number of blocks that were used up.
func (b *Blocks[T]) Used() int { return b.used }

// take removes the first block from the queue.
func (b *Blocks[T]) take() *Block[T] {
	first := b.queue[0]
	first.Parsed() // because its memory is reused
	first.loaded = nil
	copy(b.queue, b.queue[1:])
	b.queue, b.At, b.used = b.queue[:len(b.queue)-1], 0, b.used+1
	return first
}

// more reads a block and starts its parsing.
func (b *Blocks[T]) more() {
	next := &Block[T]{}
	if n := len(b.free); n > 0 {
		next, b.free = b.free[n-1], b.free[:n-1]
	}
	next.done, next.loaded = nil, nil
	if cap(next.Text) < b.bytes {
		next.Text = make([]byte, 0, b.bytes)
	}
	b.find()
	if b.rests == nil || !b.start(next) {
		b.fill(next)
	}
	b.queue = append(b.queue, next)
}

// find asks Rest.
func (b *Blocks[T]) find() {
	if b.rests != nil || !b.eager || b.Rest == nil || !b.lines || b.err != nil {
		return
	}
	if rests, next := b.Rest(b.read); rests != nil {
		b.rests, b.next, b.rest = rests, next-int64(len(b.rest)), b.rest[:0]
	}
}

// tailBytes is how much of the end of a block is searched for the end of a line.
const tailBytes = 16 << 10

// start starts a goroutine that reads and parses a block. If there is no end of a line in it, or the text ends, it
// returns false, and the rest of the text is read in its order.
func (b *Blocks[T]) start(next *Block[T]) bool {
	if b.tail == nil {
		b.tail = make([]byte, min(tailBytes, b.bytes))
	}
	n, err := b.rests.ReadAt(b.tail, b.next+int64(b.bytes-len(b.tail)))
	end := bytes.LastIndexByte(b.tail[:n], '\n')
	length := b.bytes - len(b.tail) + end + 1
	if err == nil && end < 0 {
		n, err = b.rests.ReadAt(next.Text[:b.bytes], b.next)
		length = bytes.LastIndexByte(next.Text[:n], '\n') + 1
	}
	if err != nil || length == 0 {
		b.from, b.rests, b.Rest = io.NewSectionReader(b.rests, b.next, math.MaxInt64-b.next), nil, nil
		return false
	}
	rests, at, parse := b.rests, b.next, b.parse
	b.next += int64(length)
	loaded, done := make(chan struct{}), make(chan struct{})
	if next.loaded = loaded; parse != nil {
		next.done = done
	}
	go func() {
		defer close(done)
		n, err := rests.ReadAt(next.Text[:length], at)
		if next.Text, next.Err = next.Text[:n], nil; n < length {
			next.Err = err
		}
		if close(loaded); parse != nil {
			next.parse(parse)
		}
	}()
	return true
}

// fill reads a block and starts its parsing. If a single Read of the source returns a whole line, that is enough.
func (b *Blocks[T]) fill(next *Block[T]) {
	text, end := append(next.Text[:0], b.rest...), -1
	for end < 0 && b.err == nil && len(text) < b.bytes {
		n := 0
		n, b.err = b.from.Read(text[len(text):b.bytes])
		if b.read += int64(n); n > 0 {
			end = bytes.LastIndexByte(text[len(text):len(text)+n], '\n')
			if end >= 0 {
				end += len(text) + 1
				b.lines = true
			}
			text = text[:len(text)+n]
		}
	}
	if b.err != nil || end < 0 { // the end, or a part of a long line
		end = len(text)
	}
	b.rest = append(b.rest[:0], text[end:]...)
	if next.Text, next.Err = text[:end], b.err; b.parse != nil {
		next.parseLater(b.parse)
	}
}

// parseLater starts a goroutine that parses a block when its text is there, and after an earlier parsing.
func (x *Block[T]) parseLater(by blockParser[T]) {
	before, done := x.done, make(chan struct{})
	x.done = done
	go func() {
		defer close(done)
		if x.load(); before != nil {
			<-before
		}
		x.parse(by)
	}()
}

func (x *Block[T]) parse(by blockParser[T]) { by(&x.parsed, x.Text, 0, x.Err == io.EOF) }

// Read is that of io.Reader.
func (b *Blocks[T]) Read(p []byte) (n int, err error) {
	now := b.Now()
	if n = copy(p, now.Text[b.At:]); n == 0 && len(p) > 0 {
		return 0, now.Err
	}
	b.At += n
	return n, nil
}

// ReadSlice is that of bufio.Reader.
func (b *Blocks[T]) ReadSlice(delimiter byte) (line []byte, err error) {
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
