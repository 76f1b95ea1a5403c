package analytics

import (
	"context"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/internal/recording"
)

type trianglesBatchPush struct {
	Graph, Batch rowsPush
	Counts       uint64
}

// TrianglesThrough counts the triangles of an undirected graph that have an edge of a batch, each of them once: another
// undirected graph of as many vertices, without loops, whose edges that the graph doesn't have are in no triangle. So a
// count is kept up from what changes alone: behind an insertion those through the new edges, in the graph that has
// them, come to it, and before a deletion those through the edges that are to go, in the graph that still has them,
// leave it.
//
// Errors: ErrLive; ErrDirected, of either graph; *structures.LengthError where the batch has another number of vertices;
// *vk.ForeignError, *vk.OutOfMemoryError, vk.ErrClosed, the context's.
//
// Source: Awad, Fully Concurrent GPU Data Structures, 2022, chapter 5 (dynamic triangle counting); a triangle that
// several changed edges are in is met by each, and counted for its share.
func (a *Analyzer) TrianglesThrough(ctx context.Context, batch *graph.CSR) (r TrianglesResult, err error) {
	switch {
	case a.on != nil:
		return r, ErrLive
	case !a.g.Symmetric || !batch.Symmetric:
		return r, ErrDirected
	case batch.Vertices != a.g.Vertices:
		return r, &structures.LengthError{Keys: a.g.Vertices, Other: "vertices of the batch", Got: batch.Vertices}
	}
	if err := a.d.Accept("batch of edges", batch.Targets); err != nil {
		return r, err
	}
	if batch.Arcs == 0 {
		return r, nil
	}
	err = a.run(ctx, func(w *workspace) error {
		return batch.Use(ctx, func() error { return w.trianglesThrough(batch, &r) })
	})
	return r, err
}

func (w *workspace) trianglesThrough(batch *graph.CSR, r *TrianglesResult) (err error) {
	const words = 6
	counts, err := w.room("met", words)
	if err != nil {
		return err
	}
	var took time.Duration
	if took, err = w.do(func() error {
		if err := recording.Clear(w.kernels, w.s, counts.Address(), words); err != nil {
			return err
		}
		return dispatch(w, "triangles_batch", triangleGroup, groups(batch.Arcs, triangleGroup),
			trianglesBatchPush{w.push, rowsOf(batch), counts.Address()})
	}); err != nil {
		return err
	}
	met, err := w.download(counts, words)
	if err != nil {
		return err
	}
	r.Device = took
	for n := range uint64(3) {
		r.Triangles += (uint64(met[2*n]) | uint64(met[2*n+1])<<32) / (n + 1)
	}
	return nil
}
