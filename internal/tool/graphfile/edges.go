package graphfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// edgeList reads lines with one edge each: two ids, and columns that it ignores, with blanks between them, as in SNAP's
// graphs. Lists derived from these may have a first line of column names, of the number of vertices, or of the numbers
// of vertices and edges, and a last line of -1. A first line of two numbers could also be an edge. It is one unless a
// comment before it or a flag says otherwise.
type edgeList struct {
	*lines
	vertices *Vertices
	header   input.Header
	counts   bool // a comment says that the first line has the numbers of vertices and edges
	comment  []byte
	from, to int // fields, from 0
	weight   int // -1: none
	least    int // the least number of fields in a line
	skip     bool
	passed   int64
	note     func(string)
	row      [][]byte // the fields of a line
	begun    bool
	ended    bool
	said     sizes
	unsure   sizes  // what the first line would say if it were not an edge
	edges    uint64 // number of edges read
}

// sizes are the numbers in a first line.
type sizes struct {
	vertices, edges uint64
	fields          int // 0: there are none, 1: only vertices, 2: both
	line            int64
}

func newEdgeList(l *lines, o Options, v *Vertices) (*edgeList, error) {
	e := &edgeList{lines: l, vertices: v, header: o.Header, weight: -1, skip: o.SkipInvalid, note: o.Note}
	if o.Comment != 0 {
		e.comment = []byte(string(o.Comment))
	}
	at := []*int{&e.from, &e.to, &e.weight}
	for i, c := range o.columns() {
		n, err := strconv.Atoi(c.Name)
		if err != nil || n < 1 {
			return nil, &input.OptionError{Reason: fmt.Sprintf("column %q is asked for, but columns of a list of "+
				"edges have numbers from 1", c.Name)}
		}
		*at[i], e.least = n-1, max(e.least, n)
	}
	if v.id.Any {
		e.guess()
	}
	if v.id.Type == keytype.Uint64 {
		l.readAhead(&plain{from: e.from, to: e.to, weight: e.weight, fields: e.least, count: math.MaxUint64,
			comments: "#%", comment: e.comment}, o)
	}
	return e, nil
}

func (e *edgeList) weighted() bool     { return e.weight >= 0 }
func (e *edgeList) symmetry() symmetry { return asListed }
func (e *edgeList) skipped() int64     { return e.passed }

// isComment reports whether a line is to be skipped.
func (e *edgeList) isComment(line []byte) bool {
	return len(line) == 0 || line[0] == '#' || line[0] == '%' || e.comment != nil && bytes.HasPrefix(line, e.comment)
}

// saysCounts reports whether a comment names the two numbers of the next line: "# nodes edges".
func saysCounts(comment []byte) bool {
	words := strings.FieldsFunc(strings.ToLower(string(comment)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	words = slices.DeleteFunc(words, func(w string) bool { return w == "number" || w == "of" || w == "and" })
	return len(words) == 2 && slices.Contains([]string{"vertices", "nodes", "v", "n"}, words[0]) &&
		slices.Contains([]string{"edges", "arcs", "links", "e", "m"}, words[1])
}

// guess finds out whether ids are texts: one is a code, or none of the first ones is a number, except that the first
// line may have names.
func (e *edgeList) guess() {
	head, _ := e.buffered.Peek(e.buffered.Size()) // reading returns the error again
	const most = 100
	var ids [][]byte
	coded := false
	for line := range bytes.Lines(head) {
		if line = skipBlanks(line); e.isComment(line) {
			continue
		}
		if all := fields(line); len(all) >= e.least {
			from, to := all[e.from], all[e.to]
			coded = coded || input.Coded(from) && isInteger(from) || input.Coded(to) && isInteger(to)
			if len(ids) < most {
				ids = append(ids, from, to)
			}
		}
	}
	if coded || len(ids) > 2 && !e.skip && !slices.ContainsFunc(ids, isInteger) {
		e.vertices.id = input.Column{Type: keytype.Text}
		e.note(e.file + ": ids are taken for text")
	}
}

func isInteger(field []byte) bool {
	_, err := input.Column{Type: keytype.Uint64, Wider: keytype.Uint64.Wider()}.Parse(string(field))
	return err == nil || errors.Is(err, keytype.ErrRange)
}

func (e *edgeList) read(to *Edges, most int) error {
	for n := 0; n < most; {
		if added := e.takeAhead(to, most-n); added > 0 {
			n += added
			continue
		}
		line, err := e.line()
		if err == io.EOF {
			return e.end()
		}
		if err != nil {
			return err
		}
		var code *input.CodeError
		switch added, err := e.parse(line, to); {
		case err == nil && added:
			n++
		case err != nil && e.skip && !errors.As(err, &code): // a CodeError makes all ids text instead
			e.passed++
		case err != nil:
			return err
		}
	}
	return nil
}

// takeAhead adds up to most edges that were parsed ahead, and returns their number. It adds none for the first line,
// for lines with ids that turned out not to be unsigned integers, and if there are too many vertices.
func (e *edgeList) takeAhead(to *Edges, most int) int {
	if !e.begun || e.ended || e.vertices.id.Type != keytype.Uint64 {
		return 0
	}
	sources, targets, weights := e.take(min(most, (mostVertices-e.vertices.count)/2))
	e.vertices.addEdges(to, sources, targets)
	to.addIntegers(weights)
	e.edges += uint64(len(sources))
	return len(sources)
}

// line returns the next line that is not empty and not a comment.
func (e *edgeList) line() ([]byte, error) {
	for !e.ended {
		line, err := e.next()
		if err != nil {
			return nil, err
		}
		if line = skipBlanks(line); !e.isComment(line) {
			return line, nil
		}
		e.counts = e.counts || !e.begun && saysCounts(line)
	}
	return nil, io.EOF
}

// parse adds the edge of a line, unless the line is a header or the end.
func (e *edgeList) parse(line []byte, to *Edges) (added bool, err error) {
	e.row = e.row[:0]
	for field, rest := cut(line); len(field) > 0 && len(e.row) < max(3, e.least); field, rest = cut(rest) {
		e.row = append(e.row, field)
	}
	first := !e.begun
	e.begun = true
	switch alone := len(e.row) == 1; {
	case first && e.header != input.Absent && e.isHeader():
		return false, nil
	case alone && string(e.row[0]) == "-1":
		e.ended = true
		return false, nil
	case alone && bytes.ContainsAny(line, ",;"):
		return false, e.fail(ErrCommas)
	case len(e.row) < e.least:
		return false, e.fail(ErrFields)
	}
	return true, e.add(e.row, to)
}

// add adds the edge of a line's fields.
func (e *edgeList) add(row [][]byte, to *Edges) (err error) {
	var w float64
	if e.weight >= 0 {
		ok := false
		if w, ok = weight(row[e.weight]); !ok {
			return e.failWeight(row[e.weight])
		}
	}
	var ends [2]uint32
	for i, field := range [][]byte{row[e.from], row[e.to]} {
		if ends[i], err = e.vertices.parse(field); err != nil {
			return e.fail(err)
		}
	}
	to.add(ends[0], ends[1], w, e.weight >= 0)
	e.edges++
	return nil
}

// isHeader reports whether the first line, which is in row, is not an edge.
func (e *edgeList) isHeader() bool {
	count, all := 0, len(e.row)
	var numbers [2]uint64
	for i, field := range e.row[:min(2, all)] {
		n, ok := unsigned(field)
		if numbers[i] = n; ok {
			count++
		}
	}
	integers, sure := e.vertices.id.Type == keytype.Uint64, e.header == input.Present
	switch {
	case count == all && (integers || sure): // one number or two
		counts := sizes{numbers[0], numbers[1], all, e.number}
		if sure = sure || e.counts || all < e.least; sure {
			e.said = counts
		} else {
			e.unsure = counts
		}
		return sure
	case sure:
		return true
	case all >= e.least && integers && !isInteger(e.row[e.from]) && !isInteger(e.row[e.to]):
		e.note(e.file + ": the first line is taken for names")
		return true
	}
	return false
}

// end checks the numbers of the first line, and makes its vertices.
func (e *edgeList) end() error {
	said := e.said
	e.said = sizes{}
	if u := e.unsure; u.fields == 2 && u.edges == e.edges-1 {
		e.note(fmt.Sprintf("%s: the first line is taken for an edge, though it may say how many vertices, %d, and "+
			"edges, %d, there are (--header says that it does)", e.file, u.vertices, u.edges))
	}
	if said.fields == 0 {
		return io.EOF
	}
	base := uint64(1)
	if _, there := e.vertices.find(0); there {
		base = 0
	}
	switch {
	case said.fields == 2 && said.edges != e.edges:
		return &CountError{e.file, "edges", int64(said.edges), int64(e.edges)}
	case !e.vertices.complete(base, said.vertices):
		return &input.LineError{File: e.file, Line: said.line, Err: fmt.Errorf("says that there are %d vertices, but "+
			"there are others than %d to %d", said.vertices, base, base+said.vertices-1)}
	}
	return io.EOF
}
