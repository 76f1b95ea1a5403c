package input

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"slices"

	"github.com/vkds/vkds/internal/tool/blocks"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// linesAhead has lines of a file that all cores parse.
type linesAhead struct {
	blocks *blocks.Reader[parsedLines]
	parsed *parsedLines // of the block in use; nil: all are used, or there are none
	row    int          // of the next one
}

// parsedLines are the first lines of a block: texts as they are, or decimal digits alone. The lines from the first
// other one on are parsed when they are used.
type parsedLines struct {
	exact bool
	most  uint64   // of the words
	words []uint64 // unless exact
	ends  []uint32 // if exact: begin and end of each text
	rows  int
	to    int // the end of the rows
}

// readAhead makes lines read a file in blocks.
func (l *lines) readAhead(in io.Reader, size int) {
	l.ahead = &linesAhead{blocks: blocks.New[parsedLines](l.r, size, true)}
	if file, ok := in.(restOf); ok {
		l.ahead.blocks.Rest = file.Rest
	}
}

// restOf is implemented by a File.
type restOf interface {
	Rest(read int64) (io.ReaderAt, int64)
}

// most returns the greatest word of decimal digits alone, or 0 if values are no such words.
func (l *lines) most() uint64 {
	if t := l.columns[0].Type; t&^1 == keytype.Uint32 {
		return math.MaxUint64 >> (64 - t.Width().Bits())
	}
	return 0
}

// nextBlock makes the next block the buffer. It returns false if the block is the last one, or has a line that is
// longer: then the rest is read without blocks.
func (l *lines) nextBlock() bool {
	a := l.ahead
	exact, most := l.exact, l.most()
	a.blocks.Parse = func(into *parsedLines, text []byte, _ int, _ bool) { into.parse(text, exact, most) }
	a.blocks.At = l.at
	now := a.blocks.Now()
	if now.Err != nil || now.Text[len(now.Text)-1] != '\n' {
		a.blocks.Parse = nil
		l.r, l.ahead = bufio.NewReaderSize(a.blocks, len(l.own)), nil
		l.buffer, l.at, l.whole, l.end = l.own, 0, 0, 0
		return false
	}
	l.buffer, l.at, l.whole, l.end = now.Text, 0, len(now.Text), len(now.Text)
	a.parsed, a.row = now.Parsed(), 0
	if p := a.parsed; p != nil && (p.rows == 0 || !exact && (p.most > most || !l.begun)) {
		a.parsed = nil
	}
	return true
}

func (p *parsedLines) parse(text []byte, exact bool, most uint64) {
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	p.exact, p.most, p.ends, p.rows, p.to = exact, most, p.ends[:0], 0, 0
	if !exact && most > 0 {
		p.words = slices.Grow(p.words[:0], len(text)/2)[:len(text)/2]
		p.rows, p.to = decimals(text, p.words, most)
		return
	}
	for exact && p.to < len(text) {
		next := p.to + bytes.IndexByte(text[p.to:], '\n') + 1
		end := next - 1
		if end > p.to && text[end-1] == '\r' {
			end--
		}
		p.ends = append(p.ends, uint32(p.to), uint32(end))
		p.rows, p.to = p.rows+1, next
	}
}

// takeAhead copies parsed lines to the column, from row n on, and returns the row after them.
func (l *lines) takeAhead(words []uint64, n int) int {
	a, p := l.ahead, l.ahead.parsed
	rows := min(p.rows-a.row, len(words)-n)
	if to := words[n : n+rows]; p.exact {
		texts := l.columns[0].texts
		rows = texts.AddAll(l.buffer, p.ends[2*a.row:][:2*rows])
		for k := range to[:rows] {
			to[k] = uint64(n + k) // each row has a text
		}
	} else {
		copy(to, p.words[a.row:])
	}
	l.line += int64(rows)
	if a.row += rows; a.row == p.rows {
		l.at, a.parsed = p.to, nil
	}
	return n + rows
}
