package graphfile

import (
	"bytes"
	"io"
	"math"

	"github.com/vkds/vkds/internal/tool/input"
)

// plain parses the most common lines: integers of up to 18 digits with blanks between them. It skips comments and stops
// at any other line, which the reader of the format parses. It must not accept what that would not. Several goroutines
// may use one plain.
type plain struct {
	from, to, weight int    // fields, from 0; weight is -1 if there is none
	fields           int    // least number of fields in a line
	exact            bool   // lines have exactly this number
	first, count     uint64 // the valid ids: count of them, from first
	comments         string // a line that begins with one of these characters is a comment
	comment          []byte // and so is one that begins with this; nil: none
}

// parsed has the edges of whole lines of a text.
type parsed struct {
	from, to []uint64 // ids
	weights  []uint32
	ends     []int // the end of each edge's line
	end      int   // where plain stopped: after the edges and comments that follow them
}

func (p *parsed) clear() {
	p.from, p.to, p.weights, p.ends = p.from[:0], p.to[:0], p.weights[:0], p.ends[:0]
}

// parse parses the lines of a text from an index on. last: the end of the text also ends its last line.
func (p *plain) parse(into *parsed, text []byte, at int, last bool) {
	into.clear()
	for into.end = at; at < len(text); into.end = at {
		for at < len(text) && blank(text[at]) {
			at++
		}
		if rest := text[at:]; len(rest) == 0 || rest[0] == '\n' || p.isComment(rest) {
			if at = lineEnd(text, at); at < 0 && !last {
				return
			}
		} else if at = p.edge(into, text, at, last); at < 0 {
			return
		}
		if at < 0 {
			at = len(text)
		}
	}
}

func (p *plain) isComment(line []byte) bool {
	for i := range len(p.comments) {
		if line[0] == p.comments[i] {
			return true
		}
	}
	return p.comment != nil && bytes.HasPrefix(line, p.comment)
}

// lineEnd returns the index after the end of the line at an index, or -1 if the text does not have it.
func lineEnd(text []byte, at int) int {
	if at < len(text) && text[at] == '\n' {
		return at + 1
	}
	if end := bytes.IndexByte(text[at:], '\n'); end >= 0 {
		return at + end + 1
	}
	return -1
}

// edge adds the edge of the line at an index, and returns the index after the line, or -1 if it is not plain.
func (p *plain) edge(into *parsed, text []byte, at int, last bool) int {
	var from, to, weight uint64
	fields := 0
	for at < len(text) && text[at] != '\n' {
		if fields == p.fields {
			if p.exact {
				return -1
			}
			break
		}
		if fields == p.from || fields == p.to || fields == p.weight {
			begin, n := at, uint64(0)
			for ; at < len(text) && text[at]-'0' <= 9; at++ {
				n = n*10 + uint64(text[at]-'0')
			}
			digits := at - begin
			if digits == 0 || digits > 18 || digits > 1 && text[begin] == '0' {
				return -1
			}
			if fields == p.from {
				from = n
			}
			if fields == p.to {
				to = n
			}
			if fields == p.weight {
				weight = n
			}
			if at < len(text) && text[at] != '\n' && !blank(text[at]) {
				return -1
			}
		} else {
			for at < len(text) && text[at] != '\n' && !blank(text[at]) {
				at++
			}
		}
		fields++
		for at < len(text) && blank(text[at]) {
			at++
		}
	}
	end := lineEnd(text, at)
	if end < 0 && last {
		end = len(text)
	}
	if end < 0 || fields < p.fields || from-p.first >= p.count || to-p.first >= p.count || weight > math.MaxUint32 {
		return -1
	}
	into.from, into.to, into.ends = append(into.from, from), append(into.to, to), append(into.ends, end)
	if p.weight >= 0 {
		into.weights = append(into.weights, uint32(weight))
	}
	return end
}

// ahead has the edges of the current block that were parsed ahead and not yet taken.
type ahead struct {
	blocks *input.Blocks[parsed]
	plain  *plain // nil: the format's reader parses all lines
	own    parsed // of a part that no other goroutine has parsed
	edges  *parsed
	taken  int
}

// readAhead starts the parsing of the following lines ahead.
func (l *lines) readAhead(p *plain, o Options) {
	if o.block < 0 {
		return
	}
	size := input.BlockBytes
	if o.block > 0 {
		size = o.block
	}
	l.ahead.plain, l.ahead.blocks = p, input.NewBlocks[parsed](l.buffered, size, l.eager)
	l.ahead.blocks.ParseBy(p.parse)
	if from, ok := l.from.(stored); ok {
		before, _ := from.Position()
		before -= int64(l.buffered.Buffered()) + l.mark
		l.ahead.blocks.Rest = func(read int64) (io.ReaderAt, int64) { return from.Rest(before + read) }
	}
	l.text = l.ahead.blocks
}

// stored is implemented by an input.File.
type stored interface {
	Position() (read, size int64)
	Rest(read int64) (io.ReaderAt, int64)
}

// take returns up to most of the next edges. It returns none if the next line is not plain, or at the end. weights is
// empty if there are none.
func (l *lines) take(most int) (from, to []uint64, weights []uint32) {
	a := &l.ahead
	if a.plain == nil {
		return nil, nil, nil
	}
	if a.edges == nil || a.taken == len(a.edges.from) {
		l.more()
	}
	begin := a.taken
	a.taken = min(begin+max(most, 0), len(a.edges.from))
	if weights = a.edges.weights; a.plain.weight >= 0 {
		weights = weights[begin:a.taken]
	}
	return a.edges.from[begin:a.taken], a.edges.to[begin:a.taken], weights
}

// more parses the edges after those that were taken.
func (l *lines) more() {
	l.settle()
	a := &l.ahead
	now := a.blocks.Now()
	if a.edges = nil; a.blocks.At == 0 {
		a.edges = now.Parsed()
	}
	if a.edges == nil {
		a.plain.parse(&a.own, now.Text, a.blocks.At, now.Err == io.EOF)
		a.edges = &a.own
	}
	a.taken = 0
}

// settle moves the position in the text after the edges that were taken.
func (l *lines) settle() {
	a := &l.ahead
	if a.edges == nil {
		return
	}
	end := a.blocks.At
	if a.taken == len(a.edges.from) {
		end = max(end, a.edges.end)
	} else if a.taken > 0 {
		end = a.edges.ends[a.taken-1]
	}
	if a.edges = nil; end == a.blocks.At {
		return
	}
	passed := a.blocks.Now().Text[a.blocks.At:end]
	l.number += int64(bytes.Count(passed, []byte("\n")))
	if passed[len(passed)-1] != '\n' { // the last line
		l.number++
	}
	a.blocks.At = end
}
