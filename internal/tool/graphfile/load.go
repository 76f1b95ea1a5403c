package graphfile

import (
	"context"
	"errors"
	"io"

	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// Graph is a graph that was read, with the edges that LoadOptions selects.
type Graph struct {
	Vertices *Vertices
	Edges
	Directed bool  // edges lead from From to To only
	Loops    int64 // loops in the file
	Rows     int64 // edges in the file, counted as its format lists them
	Skipped  int64 // lines and rows that were skipped
	Format   Format
}

// Direction says whether a graph's edges are directed.
type Direction uint8

const (
	// AsFormat: general matrices of Matrix Market and arcs of DIMACS are directed, all others are not.
	AsFormat Direction = iota
	Directed
	Undirected
)

// LoadOptions are the options of Load.
type LoadOptions struct {
	Options
	// Direction says what Edges has. A directed graph has arcs, two for an edge of a file without directions. In an
	// undirected graph, each element stands for both directions; without Multi, Edges may have it, its opposite, or
	// both.
	Direction Direction
	// Multi keeps loops, and duplicates of edges. Without it, loops are left out. Load does not remove equal edges; the
	// last one counts.
	Multi bool
}

// Load reads a whole graph. The vertices' numbers are in the order of their ids, unless these are texts. Errors are
// those of Open and Reader.Read. If the options do not say what ids are, and a later one is a code (input.Coded), Load
// reads the file again with ids as texts. For a pipe that is an error.
func Load(ctx context.Context, path string, o LoadOptions) (*Graph, error) {
	g, err := load(ctx, path, o)
	if o.TakeForText(path, err) {
		return load(ctx, path, o)
	}
	return g, err
}

// TakeForText makes ids text if reading a file failed because an id is a code and earlier ones are numbers. It reports
// whether it did so and the file can be read again.
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
		return nil, &input.OptionError{Reason: r.file.Name() + ": nothing in it can be read: all rows were skipped"}
	}
	g.Directed = o.directed(r.source.symmetry())
	g.number(r.Vertices.sort())
	return g, nil
}

// directed reports whether the edges of a file are directed.
func (o LoadOptions) directed(s symmetry) bool {
	return o.Direction == Directed || o.Direction == AsFormat && s == arcs
}

// take adds edges of a file.
func (g *Graph) take(part Edges, s symmetry, o LoadOptions) {
	directed := o.directed(s)
	weighted := part.Weights != nil && len(part.Weights) == part.Len()
	if part.Floats || g.Floats {
		part.becomeFloats()
		g.becomeFloats()
	}
	g.From, g.To = threads.Grown(g.From, part.Len()), threads.Grown(g.To, part.Len())
	if !weighted && !(directed && s == both) && !(!directed && o.Multi && s == twice) {
		g.takeAsListed(part, o.Multi)
		return
	}
	for i, from := range part.From {
		g.Rows++
		to, w := part.To[i], uint32(0)
		if weighted {
			w = part.Weights[i]
		}
		if from == to {
			if g.Loops++; o.Multi {
				g.put(from, to, w, weighted)
			}
			continue
		}
		if !directed && o.Multi && s == twice && from > to {
			continue // its opposite is listed, too
		}
		g.put(from, to, w, weighted)
		if directed && s == both {
			g.put(to, from, w, weighted)
		}
	}
}

// put adds an edge with the word of its weight.
func (g *Graph) put(from, to, weight uint32, weighted bool) {
	g.From, g.To = append(g.From, from), append(g.To, to)
	if weighted {
		g.Weights = append(g.Weights, weight)
	}
}

// takeAsListed is take for edges without weights, each of which is added once. It adds those between loops together.
func (g *Graph) takeAsListed(part Edges, loops bool) {
	g.Rows += int64(part.Len())
	for from, to := part.From, part.To; len(from) > 0; {
		n := 0
		for n < len(from) && from[n] != to[n] {
			n++
		}
		next := min(n+1, len(from)) // after a loop
		if g.Loops += int64(next - n); loops {
			n = next
		}
		g.From, g.To = append(g.From, from[:n]...), append(g.To, to[:n]...)
		from, to = from[next:], to[next:]
	}
}

// number replaces the vertices of the edges by other numbers.
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
