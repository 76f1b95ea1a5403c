package graphfile

import (
	"bytes"
	"io"
	"math"

	"github.com/vkds/vkds/internal/tool/blocks"
)

// plain parses what most lines of most lists are: integers of up to 18 digits with blanks between them. It passes over
// comments and stops at any other line, which the format's own rules are for, so it finds nothing that they would not.
// Several goroutines may use it.
type plain struct {
	from, to, weight int    // fields, from 0; weight is -1 where none is wanted
	fields           int    // of a line, at least
	exact            bool   // and no more
	first, count     uint64 // the ids that there may be: first, first+1, …
	comments         string // a line that begins with one of these characters is a comment
	comment          []byte // and so is one that begins with this; nil: none
}

// parsed are the edges of whole lines of a text.
type parsed struct {
	from, to []uint64 // ids
	weights  []uint32
	ends     []int // where each edge's line ends
	end      int   // where plain stopped: after the edges, and after comments that follow them
}

func (p *parsed) clear() {
	p.from, p.to, p.weights, p.ends = p.from[:0], p.to[:0], p.weights[:0], p.ends[:0]
}

// parse parses the lines of a text from a place on. last says that the text's end ends a line.
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

// lineEnd returns where the line that goes on at a place ends, after its end, or -1 if the text has no end of it.
func lineEnd(text []byte, at int) int {
	if at < len(text) && text[at] == '\n' {
		return at + 1
	}
	if end := bytes.IndexByte(text[at:], '\n'); end >= 0 {
		return at + end + 1
	}
	return -1
}

// edge adds the edge of a line that begins at a place, and returns where the line ends, or -1 if it isn't plain.
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

// ahead are the edges of the block that is being used which plain has parsed and nobody has taken.
type ahead struct {
	blocks *blocks.Reader[parsed]
	plain  *plain // nil: every line is read by its format's rules
	own    parsed // of what no other goroutine has parsed
	edges  *parsed
	taken  int
}

// readAhead has the lines from here on parsed ahead.
func (l *lines) readAhead(p *plain, o Options) {
	if o.block < 0 {
		return
	}
	size := blocks.Bytes
	if o.block > 0 {
		size = o.block
	}
	l.ahead.plain, l.ahead.blocks = p, blocks.New[parsed](l.buffered, size, l.eager)
	l.ahead.blocks.Parse = p.parse
	l.text = l.ahead.blocks
}

// take takes up to so many of the edges that come next and have been parsed. There are none if a line comes that isn't
// plain, or the end. weights is empty where none are wanted.
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

// more has the edges parsed that come after those that were taken.
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

// settle has the text go on after the edges that were taken.
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
