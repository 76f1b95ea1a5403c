// Package graphfile reads graphs: lists of edges, Matrix Market, METIS, DIMACS, and edge tables of CSV, Parquet and
// Arrow, plain or compressed, or through a pipe. Vertices have ids, integers of up to 64 bits or texts, and are
// numbered from 0 on; Vertices knows both. What is wrong is told with its file and line.
package graphfile

import (
	"context"
	"io"

	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// Options say what to read. The zero value reads all formats as they come, without weights.
type Options struct {
	Format Format
	// ID is what ids are: ID.Any, integers or, where none of the first is one, texts. Its name means nothing. Matrix
	// Market, METIS and DIMACS have numbers from 1 on, and nothing else.
	ID input.Column
	// From, To and Weight are columns of Edges and of tables, by number from 1 or, in tables, by name; "": 1, 2, and
	// no weights.
	From, To, Weight string
	// Weighted wants the weights of formats that say themselves where they are: integers from 0 to 4294967295.
	Weighted bool
	// Header, of Edges and CSV, says whether the first line holds no edge but names or, of Edges, how many vertices, or
	// vertices and edges, there are: their ids then begin with 0 if one is 0, else with 1. Detect takes it for names if
	// its ids are none and those below are, and for numbers if it is one alone, or if it is two and a comment before it
	// names them: "# nodes edges".
	Header input.Header
	// SkipInvalid passes over lines and rows of Edges and tables that hold no edge, and counts them.
	SkipInvalid bool

	Delimiter rune // of CSV: 0: as input.Options has it
	Comment   rune // begins lines of Edges and CSV to pass over. Those of Edges may begin with # or %, too

	block int // bytes of text that are parsed at a time; 0: blocks.Bytes; -1: lines are read one by one

	// Note, if not nil, is called with what had to be guessed, in one line each.
	Note func(text string)
	// Progress, if not nil, is called by Read with the bytes of the stored file that were read and its size, or -1.
	Progress func(read, size int64)
}

// columns are the columns of an edge, with the name of the weight's last.
func (o Options) columns() []input.Column {
	from, to := o.ID, o.ID
	if from.Name, to.Name = o.From, o.To; from.Name == "" {
		from.Name = "1"
	}
	if to.Name == "" {
		to.Name = "2"
	}
	all := []input.Column{from, to}
	if o.Weight != "" {
		all = append(all, input.Column{Name: o.Weight, Type: keytype.Uint32})
	}
	return all
}

// Edges are some edges, in slices of one length. Weights are nil where there are none.
type Edges struct {
	From, To []uint32 // numbers of vertices
	Weights  []uint32
}

// Len is how many they are.
func (e Edges) Len() int { return len(e.From) }

// add adds an edge.
func (e *Edges) add(from, to, weight uint32, weighted bool) {
	e.From, e.To = append(e.From, from), append(e.To, to)
	if weighted {
		e.Weights = append(e.Weights, weight)
	}
}

// clear takes the edges away and keeps their memory.
func (e *Edges) clear() { e.From, e.To, e.Weights = e.From[:0], e.To[:0], e.Weights[:0] }

// symmetry says what the edges of a file stand for.
type symmetry uint8

const (
	asListed symmetry = iota // an edge each, and nothing says whether it has a direction
	arcs                     // an arc each
	both                     // an edge each, in both directions
	twice                    // each edge is there in both directions
)

// source is what each format implements.
type source interface {
	// read adds up to so many edges; fewer are no end. An error, also io.EOF, comes with the edges before it.
	read(to *Edges, most int) error
	weighted() bool
	symmetry() symmetry
	skipped() int64
}

// Reader reads the edges of one file. It is used from one goroutine at a time.
type Reader struct {
	Vertices *Vertices // of the edges that were read, and those that the file declares

	file     *input.File
	format   Format
	source   source
	progress func(read, size int64)
	err      error
}

// Open opens a file, or standard input for "-". The context ends reads that wait for a pipe. Errors are those of
// input.Open, and *CountError.
func Open(ctx context.Context, path string, o Options) (*Reader, error) {
	file, err := input.OpenFile(ctx, path)
	if err != nil {
		return nil, err
	}
	r, err := newReader(file, o)
	if err != nil {
		file.Close()
		return nil, err
	}
	return r, nil
}

func newReader(file *input.File, o Options) (r *Reader, err error) {
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.Format, err = o.detect(file); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	r = &Reader{Vertices: newVertices(o.ID), file: file, format: o.Format, progress: o.Progress}
	if o.Format.table() {
		r.source, err = newTable(file, o, r.Vertices)
		return r, err
	}
	l, err := newLines(file.Name(), file, file.Comes(0))
	if err != nil {
		return nil, err
	}
	switch o.Format {
	case MatrixMarket:
		r.source, err = newMatrixMarket(l, o, r.Vertices)
	case METIS:
		r.source, err = newMETIS(l, o, r.Vertices)
	case DIMACS:
		r.source, err = newDIMACS(l, o, r.Vertices)
	default:
		r.source, err = newEdgeList(l, o, r.Vertices)
	}
	if err == io.EOF { // of an empty list, as the first Read says
		err = nil
	}
	return r, err
}

// Read replaces some edges by the next ones, up to so many, at least one. It returns io.EOF alone, behind the last
// ones; any other error comes with the edges before it or behind them, and again from every later call.
func (r *Reader) Read(edges *Edges, most int) error {
	edges.clear()
	for edges.Len() < most && r.err == nil {
		r.err = r.source.read(edges, most-edges.Len())
	}
	if r.progress != nil {
		r.progress(r.file.Position())
	}
	if edges.Len() > 0 && (r.err == nil || r.err == io.EOF) {
		return nil
	}
	return r.err
}

// Weighted tells whether edges have weights.
func (r *Reader) Weighted() bool { return r.source.weighted() }

// Format is what Auto found, or Options.Format.
func (r *Reader) Format() Format { return r.format }

// Skipped is how much SkipInvalid passed over so far.
func (r *Reader) Skipped() int64 { return r.source.skipped() }

// Close closes the file.
func (r *Reader) Close() error {
	if c, ok := r.source.(io.Closer); ok {
		_ = c.Close() // of what was read nothing is left to be told
	}
	return r.file.Close()
}
