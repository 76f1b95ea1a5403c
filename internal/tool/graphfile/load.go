package graphfile

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// Graph is one that was read: its vertices and its edges, as far as LoadOptions keep them.
type Graph struct {
	Vertices *Vertices
	Edges
	Directed bool  // edges lead from From to To alone
	Loops    int64 // edges from a vertex to itself that the file has
	Rows     int64 // edges that the file has, in the way of its format
	Skipped  int64 // lines and rows that were passed over
	Format   Format
}

// Direction says whether a graph's edges lead one way.
type Direction uint8

const (
	// AsFormat has those of Matrix Market's general matrices and DIMACS's arcs lead one way, and all others both ways.
	AsFormat Direction = iota
	Directed
	Undirected
)

// LoadOptions say what to make of a file's edges.
type LoadOptions struct {
	Options
	// Direction says what Edges are. Of a directed graph they are the directed ones, both for an edge of a file that
	// knows no directions. Else each stands for both of its directions; without Multi, either it or the opposite one or
	// both may be in Edges.
	Direction Direction
	// Multi keeps loops, and each edge as often as the file has it. Without, loops are left out; equal edges are not
	// merged here: their last one counts.
	Multi bool
}

// Load reads a whole graph. Its vertices' numbers are in the order of their ids, unless these are texts. Errors are
// those of Open and Reader.Read. If nobody said what ids are, and one is a code (input.Coded) after the first ones, the
// file is read again with ids as texts; through a pipe that is an error.
func Load(ctx context.Context, path string, o LoadOptions) (*Graph, error) {
	g, err := load(ctx, path, o)
	if o.TakeForText(path, err) {
		return load(ctx, path, o)
	}
	return g, err
}

// TakeForText makes ids text if an error of reading a file is that one is a code after others that are numbers, and
// tells whether it did and the file can be read again.
func (o *Options) TakeForText(path string, err error) bool {
	var code *input.CodeError
	if !errors.As(err, &code) || !input.Again(path) {
		return false
	}
	if o.Note != nil {
		o.Note(path + ": ids are taken for text, because " + code.Reason() + ": reading it again")
	}
	o.ID = input.Column{Type: keytype.Text}
	return true
}

func load(ctx context.Context, path string, o LoadOptions) (*Graph, error) {
	r, err := Open(ctx, path, o.Options)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	g := &Graph{Vertices: r.Vertices, Format: r.Format()}
	var part Edges
	for {
		const many = 1 << 16
		if err = r.Read(&part, many); err != nil {
			break
		}
		g.take(part, r.source.symmetry(), o)
	}
	if g.Skipped = r.Skipped(); err != io.EOF {
		return nil, err
	}
	if g.Rows == 0 && g.Skipped > 0 {
		return nil, &input.OptionError{Reason: r.file.Name() + ": nothing in it can be read: all there is was " +
			"passed over"}
	}
	g.Directed = o.directed(r.source.symmetry())
	g.number(r.Vertices.sort())
	return g, nil
}

// directed tells whether edges of a file lead one way.
func (o LoadOptions) directed(s symmetry) bool {
	return o.Direction == Directed || o.Direction == AsFormat && s == arcs
}

// take takes edges of a file.
func (g *Graph) take(part Edges, s symmetry, o LoadOptions) {
	directed := o.directed(s)
	weighted := part.Weights != nil && len(part.Weights) == part.Len()
	if extra := part.Len(); cap(g.From)-len(g.From) < extra {
		g.From, g.To = slices.Grow(g.From, max(extra, len(g.From))), slices.Grow(g.To, max(extra, len(g.To)))
	}
	for i, from := range part.From {
		g.Rows++
		to, w := part.To[i], uint32(0)
		if weighted {
			w = part.Weights[i]
		}
		if from == to {
			if g.Loops++; o.Multi {
				g.add(from, to, w, weighted)
			}
			continue
		}
		if !directed && o.Multi && s == twice && from > to {
			continue // it is there the other way round, too
		}
		g.add(from, to, w, weighted)
		if directed && s == both {
			g.add(to, from, w, weighted)
		}
	}
}

// number gives the ends of edges other numbers.
func (g *Graph) number(numbers []uint32) {
	if numbers == nil {
		return
	}
	for _, ends := range [][]uint32{g.From, g.To} {
		threads.Each(len(ends), 4*len(ends), func(first, end int) {
			for i, n := range ends[first:end] {
				ends[first+i] = numbers[n]
			}
		})
	}
}
