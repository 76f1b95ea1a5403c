package analytics

import (
	"context"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
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
// Errors: ErrLive; ErrDirected, of either graph; *structures.LengthError where the batch has another number of
// vertices; *vk.ForeignError, *vk.OutOfMemoryError, vk.ErrClosed, the context's.
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
	counts, err := w.room("met", metWords)
	if err != nil {
		return err
	}
	var took time.Duration
	if took, err = w.do(func() error {
		if err := recording.Clear(w.kernels, w.s, counts.Address(), metWords); err != nil {
			return err
		}
		return dispatch(w, "triangles_batch", triangleGroup, groups(batch.Arcs, triangleGroup),
			trianglesBatchPush{w.push, rowsOf(batch), counts.Address()})
	}); err != nil {
		return err
	}
	r.Device = took
	r.Triangles, err = w.met(counts)
	return err
}

// metWords are numbers of 64 bits: how often triangles were met that have one edge of a batch, two, and three; and how
// often somebody gave up.
const metWords = 8

// met is how many triangles that are.
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
