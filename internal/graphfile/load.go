package graphfile

import (
	"context"
	"io"

	"github.com/vkds/vkds/internal/input"
)

// Graph is one that was read: its vertices and its edges, as far as LoadOptions keep them.
type Graph struct {
	Vertices *Vertices
	Edges
	Loops   int64 // edges from a vertex to itself that the file has
	Rows    int64 // edges that the file has, in the way of its format
	Skipped int64 // lines and rows that were passed over
	Format  Format

	lastIsLoop bool // of the rows
}

// LoadOptions say what to make of a file's edges.
type LoadOptions struct {
	Options
	// Directed has Edges be the directed ones, both for an edge of a file that knows no directions. Without, each edge
	// stands for both of its directions; if Multi isn't there, either it or the opposite one or both may be in Edges.
	Directed bool
	// Multi keeps loops, and each edge as often as the file has it. Without, loops are left out; equal edges are not
	// merged here: their last one counts.
	Multi bool
}

// Load reads a whole graph. Its vertices' numbers are in the order of their ids, unless these are texts. Errors are
// those of Open and Reader.Read.
func Load(ctx context.Context, path string, o LoadOptions) (*Graph, error) {
	o.whole = true
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
	if e, ok := r.source.(*edgeList); ok && e.late {
		g.rotate(o.Multi)
	}
	g.number(r.Vertices.sort())
	return g, nil
}

// take takes edges of a file.
func (g *Graph) take(part Edges, s symmetry, o LoadOptions) {
	weighted := part.Weights != nil && len(part.Weights) == part.Len()
	for i, from := range part.From {
		g.Rows++
		to, w := part.To[i], uint32(0)
		if weighted {
			w = part.Weights[i]
		}
		if g.lastIsLoop = from == to; g.lastIsLoop {
			if g.Loops++; o.Multi {
				g.add(from, to, w, weighted)
			}
			continue
		}
		if !o.Directed && o.Multi && s == twice && from > to {
			continue // it is there the other way round, too
		}
		g.add(from, to, w, weighted)
		if o.Directed && s == both {
			g.add(to, from, w, weighted)
		}
	}
}

// rotate puts the last edge that was read first, if it is one of the graph's.
func (g *Graph) rotate(loops bool) {
	n := g.Len()
	if g.lastIsLoop && !loops {
		return
	}
	for _, all := range [][]uint32{g.From, g.To, g.Weights} {
		if len(all) == n {
			last := all[n-1]
			copy(all[1:], all)
			all[0] = last
		}
	}
}

// number gives the ends of edges other numbers.
func (g *Graph) number(numbers []uint32) {
	if numbers == nil {
		return
	}
	for i := range g.From {
		g.From[i], g.To[i] = numbers[g.From[i]], numbers[g.To[i]]
	}
}
