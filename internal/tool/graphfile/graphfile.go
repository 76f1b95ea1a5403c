// Package graphfile reads graphs: lists of edges, Matrix Market, METIS, DIMACS, and edge tables of CSV, Parquet and
// Arrow, plain or compressed, from files or pipes. Vertices have ids, which are integers of up to 64 bits or texts, and
// are numbered from 0; Vertices has both. Errors have the file and the line.
package graphfile

import (
	"context"
	"io"
	"math"

	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// Options are the options of Open. The zero value reads all formats, without weights.
type Options struct {
	Format Format
	// ID is the type of ids. ID.Any: integers, or if none of the first ones is one, texts. Its name is ignored. Matrix
	// Market, METIS and DIMACS have only numbers from 1.
	ID input.Column
	// From, To and Weight are columns of EdgeList and of tables, by number from 1, or in tables by name. "": 1, 2, and
	// no weights.
	From, To, Weight string
	// Weighted reads the weights of the other formats.
	Weighted bool
	// Header says whether the first line of EdgeList and CSV is not an edge. It then has names, or in EdgeList the
	// number of vertices, or of vertices and edges; ids then begin with 0 if one is 0, otherwise with 1. Detect takes
	// the line for names if its ids are not numbers and those below are; for numbers if there is only one, or if there
	// are two and a comment before names them: "# nodes edges".
	Header input.Header
	// SkipInvalid skips lines and rows of EdgeList and tables that are not edges, and counts them.
	SkipInvalid bool

	Delimiter rune // of CSV; 0: as in input.Options
	Comment   rune // begins comments in EdgeList and CSV. In EdgeList, # and % do so, too

	block int // bytes of text parsed at a time; 0: input.BlockBytes; -1: line by line

	// Note, if not nil, is called with each guess, in one line.
	Note func(text string)
	// Progress, if not nil, is called by Read with the number of bytes read of the stored file and its size, or -1.
	Progress func(read, size int64)
}

// columns returns the columns of an edge. If there is one of weights, it is the last.
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
		all = append(all, input.Column{Name: o.Weight, Type: keytype.Float64})
	}
	return all
}

// Edges are edges in slices of one length. Weights is nil if there are none.
type Edges struct {
	From, To []uint32 // numbers of vertices
	Weights  []uint32
	// Floats says that Weights has the bits of float32 numbers. They are, as soon as one weight is not an integer below
	// 2^32.
	Floats bool
}

// Len returns the number of edges.
func (e Edges) Len() int { return len(e.From) }

// add adds an edge.
func (e *Edges) add(from, to uint32, weight float64, weighted bool) {
	e.From, e.To = append(e.From, from), append(e.To, to)
	if weighted {
		e.addWeight(weight)
	}
}

// addWeight adds a weight that validWeight accepts.
func (e *Edges) addWeight(weight float64) {
	if !e.Floats && weight <= math.MaxUint32 && weight == math.Trunc(weight) {
		e.Weights = append(e.Weights, uint32(weight))
		return
	}
	e.becomeFloats()
	e.Weights = append(e.Weights, math.Float32bits(float32(max(weight, 0)))) // max: -0 is 0
}

// addIntegers adds weights that are integers.
func (e *Edges) addIntegers(weights []uint32) {
	if !e.Floats {
		e.Weights = append(e.Weights, weights...)
		return
	}
	for _, w := range weights {
		e.addWeight(float64(w))
	}
}

// becomeFloats converts the weights to floats.
func (e *Edges) becomeFloats() {
	if e.Floats {
		return
	}
	e.Floats = true
	for i, w := range e.Weights {
		e.Weights[i] = math.Float32bits(float32(w))
	}
}

// validWeight reports whether a number can be a weight: it is not negative, and no float32 is too small for it.
func validWeight(x float64) bool { return x >= 0 && !math.IsInf(float64(float32(x)), 1) }

// clear removes the edges and keeps their memory, and whether weights are floats.
func (e *Edges) clear() { e.From, e.To, e.Weights = e.From[:0], e.To[:0], e.Weights[:0] }

// symmetry is the meaning of a file's edges.
type symmetry uint8

const (
	asListed symmetry = iota // each is an edge, and nothing says whether it has a direction
	arcs                     // each is an arc
	both                     // each is an edge in both directions
	twice                    // each edge is listed in both directions
)

// source is implemented for each format.
type source interface {
	// read adds up to most edges; fewer do not mean the end. The edges before an error, or before io.EOF, are added,
	// too.
	read(to *Edges, most int) error
	weighted() bool
	symmetry() symmetry
	skipped() int64
}

// Reader reads the edges of one file. Only one goroutine at a time may use it.
type Reader struct {
	Vertices *Vertices // those of the edges read, and those that the file declares

	file     *input.File
	format   Format
	source   source
	progress func(read, size int64)
	err      error
}

// Open opens a file, or standard input for "-". The context ends reads that wait for a pipe. Errors: those of
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
	if err == io.EOF { // an empty list; the first Read returns it again
		err = nil
	}
	return r, err
}

// Read replaces edges by the next ones, at least one and at most most. After the last ones it returns io.EOF alone.
// With another error it also returns the edges before it, and later calls return the error again.
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

// Format returns Options.Format, or the detected format.
func (r *Reader) Format() Format { return r.format }

// Skipped returns the number of lines or rows that SkipInvalid has skipped so far.
func (r *Reader) Skipped() int64 { return r.source.skipped() }

// Close closes the file.
func (r *Reader) Close() error {
	if c, ok := r.source.(io.Closer); ok {
		_ = c.Close() // all that is needed was read
	}
	return r.file.Close()
}
