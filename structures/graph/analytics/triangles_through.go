package analytics

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

type trianglesThroughPush struct {
	Graph           graph.Device
	Edges, Counts   uint64
	Count, Vertices uint32
}

// TrianglesThroughEdges counts the triangles of an undirected graph that have one of some edges, from[i] to to[i], each
// of them once. An edge may come twice and in both directions; loops, and edges that the graph doesn't have, are in no
// triangle. So a count is kept up from what changes alone: behind an insertion those through the edges that were
// Inserted come to it, and before a deletion those through the edges that are to go leave it. Of a graph where it is
// that takes no pass over the graph: the neighbours of an edge's end of fewer are looked for at the other one.
//
// Errors: ErrDirected; ErrStuck; *structures.LengthError; *graph.VertexError; *structures.CountError;
// *vk.OutOfMemoryError, vk.ErrClosed, the context's.
//
// Source: Awad, Fully Concurrent GPU Data Structures, 2022, chapter 5 (dynamic triangle counting); a triangle that
// several changed edges are in is met by each, and counted for its share.
func (a *Analyzer) TrianglesThroughEdges(ctx context.Context, from, to []uint32) (r TrianglesResult, err error) {
	switch {
	case len(to) != len(from):
		return r, &structures.LengthError{Keys: len(from), Other: "vertices that edges lead to", Got: len(to)}
	case len(from) > graph.MaxArcs/2:
		return r, &structures.CountError{What: "edges", N: len(from), Most: graph.MaxArcs / 2}
	case a.on == nil:
		return a.throughRows(ctx, from, to)
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

// throughRows has the edges as rows, too.
func (a *Analyzer) throughRows(ctx context.Context, from, to []uint32) (r TrianglesResult, err error) {
	batch, err := graph.BuildCSR(ctx, a.d, from, to, nil,
		graph.CSROptions{Vertices: a.g.Vertices, DropLoops: true, Symmetric: true})
	if err != nil {
		return r, err
	}
	r, err = a.TrianglesThrough(ctx, batch)
	return r, cmp.Or(err, batch.Close())
}

// through counts, of a graph where it is, the triangles through edges.
func (w *workspace) through(keys []uint32, r *TrianglesResult) error {
	n, wide := len(keys)/2, primitives.Widths{Key: structures.Bits64}
	var counts, unsorted, sorted, scratch *vk.Buffer[uint32]
	if err := w.rooms(room{"met", metWords, &counts}, room{"from", 2 * n, &unsorted}, room{"to", 2 * n, &sorted},
		room{"scratch", w.bulk.SortScratch(n, false, wide) / 4, &scratch}); err != nil {
		return err
	}
	if err := unsorted.Upload(w.ctx, 0, keys); err != nil {
		return err
	}
	took, err := w.do(func() error {
		return cmp.Or(recording.Clear(w.kernels, w.s, counts.Address(), metWords),
			w.bulk.Sort(w.s, primitives.SortArgs{Keys: unsorted.Address(), OutKeys: sorted.Address(),
				Length: primitives.Length{N: n}, Widths: wide, Scratch: scratch.Address()}),
			w.recordThrough(trianglesThroughPush{w.device, sorted.Address(), counts.Address(), uint32(n),
				uint32(w.vertices)}))
	})
	if err != nil {
		return err
	}
	r.Device = w.looked + took
	r.Triangles, err = w.met(counts)
	return err
}

// throughShare is SHARE of triangles_through.comp.
const throughShare = 16

func (w *workspace) recordThrough(push trianglesThroughPush) error {
	k, err := kernelOverEdges[trianglesThroughPush](w, "triangles_through", w.group, w.weighted())
	if err == nil {
		k.Dispatch(w.s, groups(int(push.Count), throughShare), push)
	}
	return err
}
