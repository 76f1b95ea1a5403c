package graph

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// noVertex is what a deleted vertex is saved to lead to: no vertex has this number.
const noVertex = ^uint32(0)

// Save writes the graph to w, and returns how many bytes w took: as a dictionary whose keys of 64 bits are edges, the
// ends of each, From in the upper half, and whose values of 32 bits are weights (a set where there are none). Of an
// undirected graph each edge is there once; a vertex that was deleted is an edge to 2^32-1. It is one call: what
// changes the graph waits until it ends; w must not use the graph. Errors: w's, structures.ErrChanged where kernels
// have changed the graph meanwhile, the context's.
func (g *Graph) Save(ctx context.Context, w io.Writer) (int64, error) {
	if err := g.enterShared(ctx); err != nil {
		return 0, err
	}
	defer g.gate.LeaveShared()
	var gone []uint32
	var edges uint64
	var counts [counterWords]uint32
	err := g.pipelines.Do(ctx, func(s *vk.Stream) (err error) {
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
	h := g.o.header(int(counts[countExtent]), edges+uint64(len(gone)))
	return transfer.Save(ctx, w, h, g.o.columns(), savedPairs(g.chunks(ctx, true), gone, g.o.Weighted))
}

// header is that of a saved graph, of so many pairs.
func (o *Options) header(vertices int, pairs uint64) saved.Header {
	return saved.Header{Structure: saved.Graph, Pairs: int64(pairs),
		Parameters: map[string]float64{"vertices": float64(vertices), "load": cmp.Or(o.Load, DefaultLoad),
			"directed": number(o.Directed), "loops": number(o.SelfLoops)}}
}

// columns are what edges and weights are saved as.
func (o *Options) columns() saved.Columns {
	return saved.Columns{Keys: saved.Keys[uint64](), Values: saved.Keys[uint32](), KeysOnly: !o.Weighted}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// deletedVertices are those below the extent that are none.
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

// savedPairs are the pairs that a graph is saved as: its edges, and vertices that are gone.
func savedPairs(edges iter.Seq2[Edges, error], gone []uint32, weighted bool) iter.Seq2[
	structures.Pairs[uint64, uint64], error] {
	type pairs = structures.Pairs[uint64, uint64]
	return transfer.Sequence(func(yield func(pairs) bool) error {
		var p pairs
		put := func(from, to, weight uint32) {
			p.Keys = append(p.Keys, keyOf(from, to))
			if weighted {
				p.Values = append(p.Values, uint64(weight))
			}
		}
		for _, v := range gone {
			put(v, noVertex, 0)
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

// Load makes a graph of what Save has written, to the end of r: with directions, weights, self loops and vertices as it
// had, whatever the options say of these; a Load of 0 is what it had, too. Errors: *structures.SavedError, also of what
// is no graph; *vk.LimitError, if of very many vertices very few have edges and Options.Capacity has no room
// for all; r's own; those of New and of InsertEdges.
func Load(ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Graph, error) {
	in, vertices, err := o.open(r)
	if err != nil {
		return nil, err
	}
	g, err := New(ctx, d, o)
	if err != nil {
		return nil, err
	}
	if err := transfer.Filled(g, func() error { return g.load(ctx, in, vertices) }); err != nil {
		return nil, err
	}
	return g, nil
}

// open begins to read a saved graph, of which it makes the options.
func (o *Options) open(r io.Reader) (in *saved.Reader, vertices uint32, err error) {
	in, err = saved.NewReader(r)
	if err != nil {
		return nil, 0, err
	}
	h := in.Header()
	n := h.Parameters["vertices"]
	if h.Structure != saved.Graph {
		return nil, 0, &structures.SavedError{Err: fmt.Errorf("%w of a graph, but of a %s", structures.ErrNotSaved,
			h.Structure)}
	}
	if !(n >= 0 && n <= MaxVertices) {
		return nil, 0, &structures.SavedError{Err: fmt.Errorf("%w: %g vertices", structures.ErrCorrupt, n)}
	}
	o.Directed, o.Weighted, o.SelfLoops = h.Parameters["directed"] != 0, !h.KeysOnly, h.Parameters["loops"] != 0
	if err := in.As(o.columns()); err != nil {
		return nil, 0, err
	}
	if o.Load == 0 {
		o.Load = h.Parameters["load"]
	}
	return in, uint32(n), nil
}

// readEdges inserts the edges that are read, and returns the vertices that are gone.
func readEdges(in *saved.Reader, vertices uint32, weighted bool, insert func(Edges) error) (gone []uint32, err error) {
	const atOnce = 1 << 20
	keys, values := make([]uint64, atOnce), make([]uint64, atOnce)
	for {
		n, err := saved.ReadWords(in, keys, values)
		if err == io.EOF {
			return gone, nil
		}
		if err != nil {
			return nil, err
		}
		var e Edges
		for i, key := range keys[:n] {
			from, to := endsOf(key)
			if from >= vertices || to >= vertices && to != noVertex {
				return nil, &structures.SavedError{Err: fmt.Errorf("%w: an edge from %d to %d, of %d vertices",
					structures.ErrCorrupt, from, to, vertices)}
			}
			if to == noVertex {
				gone = append(gone, from)
				continue
			}
			if e = e.with(from, to); weighted {
				e.Weights = append(e.Weights, uint32(values[i]))
			}
		}
		if err := insert(e); err != nil {
			return nil, err
		}
	}
}

// verticesAnEdge are how many a file may have without edges of their own, for each edge that was read: a few bytes
// can't say that there are 2^30 of them, unless Options.Capacity does.
const verticesAnEdge = 64

// load inserts what is read. No more vertices are made room for than edges need, before all of these were read.
func (g *Graph) load(ctx context.Context, in *saved.Reader, vertices uint32) error {
	gone, err := readEdges(in, vertices, g.o.Weighted, func(e Edges) error {
		_, err := g.InsertEdges(ctx, e)
		return pipeline.Cause(err)
	})
	if err != nil || vertices == 0 {
		return err
	}
	if most := int64(max(g.o.Capacity, 1<<20)) + verticesAnEdge*in.Header().Pairs; int64(vertices) > most {
		return &vk.LimitError{What: "vertices of a saved graph of so few edges", Want: uint64(vertices),
			Most: uint64(most), Option: "Capacity"}
	}
	if _, err := g.InsertVertices(ctx, []uint32{vertices - 1}); err != nil {
		return pipeline.Cause(err)
	}
	_, err = g.DeleteVertices(ctx, gone)
	return pipeline.Cause(err)
}
