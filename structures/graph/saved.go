package graph

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/transfer"
	"github.com/vkds/vkds/vk"
)

// savedName is the structure in the header of a saved graph.
const savedName = "graph"

// noVertex is what a deleted vertex is saved to lead to: no vertex has this number.
const noVertex = ^uint32(0)

// Save writes the graph to w, and returns how many bytes w took: as a dictionary whose keys of 64 bits are edges, the
// ends of each, From in the upper half, and whose values are weights (a set where there are none). Of an undirected
// graph each edge is there once; a vertex that was deleted is an edge to 2^32-1. It is one call: what changes the graph
// waits until it ends; w must not use the graph. Errors: w's, structures.ErrChanged where kernels have changed the graph
// meanwhile, the context's.
func (g *Graph) Save(ctx context.Context, w io.Writer) (int64, error) {
	if err := g.enterShared(ctx); err != nil {
		return 0, err
	}
	defer g.leaveShared()
	var gone []uint32
	var edges uint64
	var counts [counterWords]uint32
	err := g.pipelines.Do(ctx, func(s *vk.Stream) (err error) {
		if counts, err = g.counts(ctx, s); err == nil {
			edges, err = g.arcsNow(ctx, s, int(counts[countExtent]))
		}
		return err
	})
	if err == nil && counts[countDeleted] != 0 {
		gone, err = g.deletedVertices(ctx, int(counts[countExtent]))
	}
	if err != nil {
		return 0, err
	}
	if !g.o.Directed {
		edges = (edges + uint64(counts[countLoops])) / 2
	}
	h := saved.Header{Structure: savedName, Pairs: int64(edges) + int64(len(gone)), KeysOnly: !g.o.Weighted,
		Parameters: map[string]float64{"vertices": float64(counts[countExtent]), "load": g.o.Load,
			"directed": number(g.o.Directed), "loops": number(g.o.SelfLoops)}}
	return transfer.Save(ctx, g.gate, w, h, g.savedPairs(ctx, gone))
}

// WriteTo is Save without a context: io.WriterTo.
func (g *Graph) WriteTo(w io.Writer) (int64, error) { return g.Save(context.Background(), w) }

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// deletedVertices are those below the extent that are none.
func (g *Graph) deletedVertices(ctx context.Context, extent int) (gone []uint32, err error) {
	w := walk{g: g, in: true, step: 1 << 20}
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

// savedPairs are the pairs that a graph is saved as.
func (g *Graph) savedPairs(ctx context.Context, gone []uint32) iter.Seq2[structures.Pairs[uint64, uint64], error] {
	type pairs = structures.Pairs[uint64, uint64]
	return transfer.Sequence(func(yield func(pairs) bool) error {
		var p pairs
		put := func(from, to, weight uint32) {
			p.Keys = append(p.Keys, uint64(from)<<32|uint64(to))
			if g.o.Weighted {
				p.Values = append(p.Values, uint64(weight))
			}
		}
		for _, v := range gone {
			put(v, noVertex, 0)
		}
		if len(gone) != 0 && !yield(p) {
			return nil
		}
		for e, err := range g.chunks(ctx, true) {
			if err != nil {
				return err
			}
			p.Keys, p.Values = p.Keys[:0], p.Values[:0]
			for i, from := range e.From {
				weight := uint32(0)
				if g.o.Weighted {
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

// Load makes a graph of what Save has written, to the end of r: with directions, weights, self loops and vertices as it
// had, whatever the options say of these; a Load of 0 is what it had, too. Errors: *structures.SavedError, also of what
// is no graph; r's own; those of New and of InsertEdges.
func Load(ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Graph, error) {
	in, err := saved.NewReader(r)
	if err != nil {
		return nil, err
	}
	h := in.Header()
	vertices := h.Parameters["vertices"]
	if h.Structure != savedName || h.Width != structures.Bits64 {
		return nil, &structures.SavedError{Err: fmt.Errorf("%w of a graph, but of a %s", structures.ErrNotSaved,
			h.Structure)}
	}
	if !(vertices >= 0 && vertices <= MaxVertices) {
		return nil, &structures.SavedError{Err: fmt.Errorf("%w: %g vertices", structures.ErrCorrupt, vertices)}
	}
	o.Directed, o.Weighted, o.SelfLoops = h.Parameters["directed"] != 0, !h.KeysOnly, h.Parameters["loops"] != 0
	if o.Load == 0 {
		o.Load = h.Parameters["load"]
	}
	g, err := New(ctx, d, o)
	if err != nil {
		return nil, err
	}
	if err := g.load(ctx, in, uint32(vertices)); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// load inserts what is read. No more vertices are made room for than edges need, before all of these were read.
func (g *Graph) load(ctx context.Context, in *saved.Reader, vertices uint32) error {
	const atOnce = 1 << 20
	keys, values := make([]uint64, atOnce), make([]uint64, atOnce)
	var gone []uint32
	for {
		n, err := saved.ReadWords(in, keys, values)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		var e Edges
		for i, key := range keys[:n] {
			from, to := uint32(key>>32), uint32(key)
			if from >= vertices || to >= vertices && to != noVertex {
				return &structures.SavedError{Err: fmt.Errorf("%w: an edge from %d to %d, of %d vertices",
					structures.ErrCorrupt, from, to, vertices)}
			}
			if to == noVertex {
				gone = append(gone, from)
				continue
			}
			if e = e.with(from, to); g.o.Weighted {
				e.Weights = append(e.Weights, uint32(values[i]))
			}
		}
		if _, err := g.InsertEdges(ctx, e); err != nil {
			return pipeline.Cause(err)
		}
	}
	if vertices == 0 {
		return nil
	}
	if _, err := g.InsertVertices(ctx, []uint32{vertices - 1}); err != nil {
		return pipeline.Cause(err)
	}
	_, err := g.DeleteVertices(ctx, gone)
	return pipeline.Cause(err)
}
