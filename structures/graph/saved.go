package graph

import (
	"cmp"
	"context"
	"io"
	"iter"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph/internal/edgelist"
	"github.com/vkds/vkds/vk"
)

// Save writes the graph to w, and returns the number of bytes. The file is that of a dictionary: its keys of 64 bits
// are edges, with From in the upper half, and its values of 32 bits are weights. Without weights it is a set. An
// undirected edge is there once. A deleted vertex is an edge to 2^32-1.
//
// Updates wait until Save ends, and w must not use the graph. Errors: w's, structures.ErrChanged if kernels have
// changed the graph meanwhile, the context's.
func (g *Graph) Save(ctx context.Context, w io.Writer) (int64, error) {
	if err := g.handle().EnterQuery(ctx); err != nil {
		return 0, err
	}
	defer g.h.LeaveShared()
	var gone []uint32
	var edges uint64
	var counts [counterWords]uint32
	err := g.h.Pipelines.Do(ctx, func(s *vk.Stream) (err error) {
		if counts, err = g.counts(ctx, s); err == nil {
			edges, err = g.edgesNow(ctx, s, counts)
		}
		return err
	})
	if err == nil && counts[countDeleted] != 0 {
		gone, err = g.deletedVertices(ctx, int(counts[countExtent]))
	}
	if err != nil {
		return 0, err
	}
	rules := g.o.rules()
	h := rules.Header(int(counts[countExtent]), g.o.Load, edges+uint64(len(gone)))
	return transfer.Save(ctx, w, h, rules.Columns(), savedPairs(g.chunks(ctx, true), gone, g.o.Weighted))
}

// deletedVertices returns the deleted vertices below the extent.
func (g *Graph) deletedVertices(ctx context.Context, extent int) (gone []uint32, err error) {
	w := walk{g: g, parts: recording.Walk{In: true}, step: 1 << 20}
	next := uint32(0)
	for {
		part, err := w.vertices(ctx)
		if err != nil || part == nil {
			for ; err == nil && int(next) < extent; next++ {
				gone = append(gone, next)
			}
			return gone, err
		}
		for _, v := range part {
			for ; next < v; next++ {
				gone = append(gone, next)
			}
			next = v + 1
		}
	}
}

// savedPairs returns the pairs of a saved graph: its edges, and its deleted vertices.
func savedPairs(edges iter.Seq2[Edges, error], gone []uint32, weighted bool) iter.Seq2[
	structures.Pairs[uint64, uint64], error] {
	type pairs = structures.Pairs[uint64, uint64]
	return transfer.Sequence(func(yield func(pairs) bool) error {
		var p pairs
		put := func(from, to, weight uint32) {
			p.Keys = append(p.Keys, edgelist.Key(from, to))
			if weighted {
				p.Values = append(p.Values, uint64(weight))
			}
		}
		for _, v := range gone {
			put(v, edgelist.Deleted, 0)
		}
		if len(gone) != 0 && !yield(p) {
			return nil
		}
		for e, err := range edges {
			if err != nil {
				return err
			}
			p.Keys, p.Values = p.Keys[:0], p.Values[:0]
			for i, from := range e.From {
				weight := uint32(0)
				if weighted {
					weight = e.Weights[i]
				}
				put(from, e.To[i], weight)
			}
			if !yield(p) {
				return nil
			}
		}
		return nil
	})
}

// Load makes a graph from the file of Save. It reads r to its end. Directions, weights, self loops and vertices are
// those of the saved graph, whatever the options say, and so is Load if the option is 0. Errors:
// *structures.SavedError, also if the file has no graph; *vk.LimitError if the file has far more vertices than edges,
// and Options.Capacity is less; r's own; those of New and of InsertEdges.
func Load(ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Graph, error) {
	in, err := edgelist.Open(r)
	if err != nil {
		return nil, err
	}
	o.Directed, o.Weighted, o.SelfLoops = in.Directed, in.Weighted, in.SelfLoops
	o.Load = cmp.Or(o.Load, in.Load)
	g, err := New(ctx, d, o)
	if err != nil {
		return nil, err
	}
	if err := transfer.Filled(g, func() error { return g.load(ctx, in) }); err != nil {
		return nil, err
	}
	return g, nil
}

// verticesAnEdge is the greatest number of vertices for each edge in a file. For more, Options.Capacity must allow
// them, so that a file of a few bytes cannot ask for memory for 2^30 vertices.
const verticesAnEdge = 64

// load inserts what is read. Until all edges are read, it makes room only for the vertices of edges.
func (g *Graph) load(ctx context.Context, in *edgelist.Reader) error {
	vertices := in.Vertices
	gone, err := in.Each(func(e edgelist.Edges) error {
		_, err := g.InsertEdges(ctx, Edges(e))
		return pipeline.Cause(err)
	})
	if err != nil || vertices == 0 {
		return err
	}
	if most := int64(max(g.o.Capacity, 1<<20)) + verticesAnEdge*in.Pairs; int64(vertices) > most {
		return &vk.LimitError{What: "vertices of a saved graph with so few edges", Want: uint64(vertices),
			Most: uint64(most), Option: "Capacity"}
	}
	if _, err := g.InsertVertices(ctx, []uint32{vertices - 1}); err != nil {
		return pipeline.Cause(err)
	}
	_, err = g.DeleteVertices(ctx, gone)
	return pipeline.Cause(err)
}
