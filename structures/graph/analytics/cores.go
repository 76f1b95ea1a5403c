package analytics

import (
	"context"
	"slices"
	"time"
)

// CoresResult has the core numbers of the vertices.
type CoresResult struct {
	// Cores has the core number of each vertex: the greatest k for which the vertex is in a subgraph in which every
	// vertex has at least k neighbors.
	Cores   []uint32
	Most    uint32        // the greatest core number, the graph's degeneracy
	Rounds  int           // rounds of peeling, and of searches for the next vertices to peel
	Elapsed time.Duration // how long the device worked; 0 if it has no clock
}

// Cores returns the core number of each vertex of an undirected graph without loops. Errors: ErrDirected,
// *vk.OutOfMemoryError, vk.ErrClosed, the context's.
//
// Source: Seidman, Network Structure and Minimum Degree, 1983; peeling in rounds after Kabir and Madduri, Parallel
// k-Core Decomposition on Multicore Platforms, 2017.
func (a *Analyzer) Cores(ctx context.Context) (r CoresResult, err error) {
	err = a.run(ctx, func(w *workspace) error {
		if !w.symmetric {
			return ErrDirected
		}
		n := w.vertices
		t, err := w.newTraversal("cores", 0, n)
		if err != nil {
			return err
		}
		err = t.run(func() error {
			return dispatch(w, w.coresBeginKernel(), groups(max(n, controlWords), largeGroup), t.push)
		})
		if err != nil {
			return err
		}
		r.Rounds, r.Elapsed = int(t.rounds), t.device
		if r.Cores, err = w.download(w.buffers["extra"], n); err == nil && n > 0 {
			r.Most = slices.Max(r.Cores)
		}
		return err
	})
	return r, err
}
