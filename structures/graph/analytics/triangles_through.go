package analytics

import (
	"cmp"
	"context"
	"math/bits"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

type (
	// batchEdges is BatchEdges of shaders/analytics/batch_edges.glsl.
	batchEdges struct {
		Edges, FilterBits uint64
		Count, FilterMask uint32
	}
	batchFilterPush   struct{ Batch batchEdges }
	trianglesRowsPush struct {
		Rows   rowsPush
		Batch  batchEdges
		Counts uint64

		Part dispatched
	}
	trianglesThroughPush struct {
		trianglesRowsPush
		Graph graph.Description
	}
)

// TrianglesThroughEdges counts the triangles of an undirected graph that have at least one of the edges from[i] to
// to[i]. It counts each triangle once. An edge may occur twice and in both directions. Loops, and edges that the graph
// does not have, belong to no triangle.
//
// Use it to keep a count up to date: after an insertion, add the triangles through the edges that were Inserted; before
// a deletion, subtract those through the edges to be deleted. It makes no pass over the graph: for each edge it looks
// up the neighbors of the end that has fewer among those of the other end.
//
// Errors: ErrDirected, ErrStuck, *structures.LengthError, *graph.VertexError, *structures.CountError,
// *vk.OutOfMemoryError, vk.ErrClosed, the context's.
//
// Source: Awad, Fully Concurrent GPU Data Structures, 2022, chapter 5 (dynamic triangle counting). A triangle that has
// several of the edges is found from each of them, and each counts its share.
func (a *Analyzer) TrianglesThroughEdges(ctx context.Context, from, to []uint32) (r TrianglesResult, err error) {
	if err := a.turns().Err(); err != nil {
		return r, err
	}
	switch {
	case len(to) != len(from):
		return r, &structures.LengthError{Keys: len(from), Other: "vertices that edges lead to", Got: len(to)}
	case len(from) > graph.MaxArcs/2:
		return r, &structures.CountError{What: "edges", N: len(from), Most: graph.MaxArcs / 2}
	}
	err = a.run(ctx, func(w *workspace) error {
		if !w.symmetric {
			return ErrDirected
		}
		if len(from) == 0 {
			return nil
		}
		keys := make([]uint32, 0, 2*len(from)) // numbers of 64 bits, the lesser end in the upper half
		for i, u := range from {
			low, high := min(u, to[i]), max(u, to[i])
			if err := w.vertex(high); err != nil {
				return err
			}
			keys = append(keys, high, low)
		}
		return w.through(keys, &r)
	})
	return r, err
}

// batchWidths: the edges of a batch are sorted as numbers of 64 bits.
var batchWidths = primitives.Widths{Key: structures.Bits64}

// through counts the triangles through edges.
func (w *workspace) through(keys []uint32, r *TrianglesResult) error {
	n := len(keys) / 2
	words := 1 << min(bits.Len(uint(n-1)), filterBits)
	var counts, unsorted, sorted, filter, scratch *vk.Buffer[uint32]
	if err := w.rooms(room{"met", metWords, &counts}, room{"from", 2 * n, &unsorted}, room{"to", 2 * n, &sorted},
		room{"filter", words, &filter},
		room{"scratch", w.bulk.Scratch(primitives.SortArgs{Length: primitives.Length{N: n}, Widths: batchWidths}) / 4,
			&scratch}); err != nil {
		return err
	}
	if err := unsorted.Upload(w.ctx, 0, keys); err != nil {
		return err
	}
	batch := batchEdges{sorted.Address(), filter.Address(), uint32(n), uint32(words - 1)}
	took, err := w.do(func() error {
		return cmp.Or(recording.Clear(w.kernels, w.s, counts.Address(), metWords),
			recording.Clear(w.kernels, w.s, filter.Address(), words),
			w.bulk.Sort(w.s, primitives.SortArgs{Keys: unsorted.Address(), OutKeys: sorted.Address(),
				Length: primitives.Length{N: n}, Widths: batchWidths, Scratch: scratch.Address()}),
			dispatch(w, filterKernel(), groups(n, triangleGroup), batchFilterPush{batch}),
			w.recordThrough(trianglesRowsPush{Rows: w.push, Batch: batch, Counts: counts.Address()}))
	})
	if err != nil {
		return err
	}
	r.Elapsed = w.looked + took
	r.Count, err = w.met(counts)
	return err
}

// filterBits is the number of bits of a hash that select a word of a filter (batch_edges.glsl).
const filterBits = 27

// throughShare is SHARE of triangles_through.comp.
const throughShare = 16

func (w *workspace) recordThrough(push trianglesRowsPush) error {
	all := groups(int(push.Batch.Count), throughShare)
	parts := groups(all, dispatchGroups)
	if w.on == nil {
		return inDispatches(w, w.throughRowsKernel(), all, parts, push.part)
	}
	return inDispatches(w, w.throughEdgesKernel(), all, parts, func(part dispatched) trianglesThroughPush {
		return trianglesThroughPush{push.part(part), w.device}
	})
}

func (p trianglesRowsPush) part(of dispatched) trianglesRowsPush {
	p.Part = of
	return p
}

// metWords is the size of four 64-bit counters: of triangles found that have one, two and three edges of the batch, and
// of searches that were given up.
const metWords = 8

// met returns the number of triangles.
func (w *workspace) met(counts *vk.Buffer[uint32]) (triangles uint64, err error) {
	met, err := w.download(counts, metWords)
	if err != nil {
		return 0, err
	}
	if number(met, 3) != 0 {
		return 0, ErrStuck
	}
	for n := range 3 {
		triangles += number(met, n) / uint64(n+1)
	}
	return triangles, nil
}
