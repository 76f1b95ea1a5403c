package input

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"slices"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// linesAhead has lines of a file that all cores parse.
type linesAhead struct {
	blocks *Blocks[parsedLines]
	kind   lineKind     // of the lines that are parsed; the zero value: none are
	parsed *parsedLines // of the block in use; nil: all are used, or there are none
	row    int          // of the next one
}

// parsedLines are the first lines of a block: texts, or decimal digits alone. The lines from the first other one on are
// parsed when they are used.
type parsedLines struct {
	lineKind
	words []uint64 // of decimal digits
	list  keytype.TextList
	rows  int
	to    int // the end of the rows
}

// lineKind is what lines hold.
type lineKind struct {
	texts   bool
	exact   bool   // texts are whole lines; or else they are trimmed, and lines without text are others
	most    uint64 // the greatest word of decimal digits; 0: values are no such words
	comment string // as that of lines
}

// readAhead makes lines read a file in blocks.
func (l *lines) readAhead(in io.Reader, size int) {
	l.ahead = &linesAhead{blocks: NewBlocks[parsedLines](l.r, size, true)}
	if file, ok := in.(restOf); ok {
		l.ahead.blocks.Rest = file.Rest
	}
}

// restOf is implemented by a File.
type restOf interface {
	Rest(read int64) (io.ReaderAt, int64)
}

func (l *lines) kind() (k lineKind) {
	switch t := l.columns[0].Type; {
	case t == keytype.Text:
		k.texts, k.exact, k.comment = true, l.exact, l.comment
	case t&^1 == keytype.Uint32:
		k.most = math.MaxUint64 >> (64 - t.Width().Bits())
	}
	return k
}

// nextBlock makes the next block the buffer. It returns false if the block is the last one, or has a line that is
// longer: then the rest is read without blocks.
func (l *lines) nextBlock() bool {
	a := l.ahead
	kind := l.kind()
	if kind != a.kind {
		a.kind = kind
		a.blocks.ParseBy(func(into *parsedLines, text []byte, _ int, _ bool) { into.parse(text, kind) })
	}
	a.blocks.At = l.at
	now := a.blocks.Now()
	if now.Err != nil || now.Text[len(now.Text)-1] != '\n' {
		a.blocks.ParseBy(nil)
		l.r, l.ahead = bufio.NewReaderSize(a.blocks, len(l.own)), nil
		l.buffer, l.at, l.whole, l.end = l.own, 0, 0, 0
		return false
	}
	l.buffer, l.at, l.whole, l.end = now.Text, 0, len(now.Text), len(now.Text)
	a.parsed, a.row = now.Parsed(), 0
	if p := a.parsed; p != nil && (p.rows == 0 || p.most > kind.most || !l.begun && !l.exact) {
		a.parsed = nil
	}
	return true
}

func (p *parsedLines) parse(text []byte, kind lineKind) {
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	p.lineKind, p.rows, p.to = kind, 0, 0
	p.list.Truncate(0)
	if kind.most > 0 {
		p.words = slices.Grow(p.words[:0], len(text)/2)[:len(text)/2]
		p.rows, p.to = decimals(text, p.words, kind.most)
		return
	}
	for kind.texts && p.to < len(text) {
		next := p.to + bytes.IndexByte(text[p.to:], '\n') + 1
		begin, end := p.to, next-1
		switch line := text[begin:end]; {
		case !kind.exact:
			trimmed := bytes.TrimSpace(line)
			if len(trimmed) == 0 || kind.comment != "" && bytes.HasPrefix(line, []byte(kind.comment)) {
				return
			}
			begin += cap(line) - cap(trimmed) // what was trimmed before it
			end = begin + len(trimmed)
		case end > begin && text[end-1] == '\r':
			end--
		}
		p.list.Add(text[begin:end])
		p.rows, p.to = p.rows+1, next
	}
}

// takeAhead copies parsed lines to the column, from row n on, and returns the row after them.
func (l *lines) takeAhead(words []uint64, n int) int {
	a, p := l.ahead, l.ahead.parsed
	rows := min(p.rows-a.row, len(words)-n)
	if to := words[n : n+rows]; p.texts {
		first := l.columns[0].texts.AddList(&p.list, a.row, a.row+rows)
		for k := range to {
			to[k] = first + uint64(k)
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
