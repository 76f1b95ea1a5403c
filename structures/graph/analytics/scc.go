package analytics

import (
	"context"
	"time"

	"github.com/vkds/vkds/internal/engine/joint"
)

// StrongComponents returns the strongly connected components: two vertices are in the same one if paths lead from each
// to the other. For an undirected graph they are those of Components. For a directed graph, StrongComponents first
// transposes the rows, as PageRank does: once for an Analyzer of New, in each call for one of NewLive. Elapsed leaves
// that out. Errors: *vk.OutOfMemoryError, vk.ErrClosed, the context's.
//
// Source: Orzan, On Distributed Verification and Verified Distribution, 2004 (colors that spread); Slota, Rajamanickam
// and Madduri, BFS and Coloring-based Parallel Algorithms for Strongly Connected Components and Related Problems, 2014
// (peeling, and two searches for the giant component, first); with colors in random order as in Blelloch, Gu, Shun and
// Sun, Parallelism in Randomized Incremental Algorithms, 2016.
func (a *Analyzer) StrongComponents(ctx context.Context) (r ComponentsResult, err error) {
	switch {
	case !a.directed():
		return a.Components(ctx)
	case a.on != nil:
		err = a.onSnapshot(ctx, &r.Elapsed, func(of *Analyzer) (err error) {
			r, err = of.StrongComponents(ctx)
			return err
		})
		return r, err
	}
	err = a.run(ctx, func(w *workspace) (err error) {
		if w.vertices != 0 {
			r.Labels, r.Elapsed, err = w.strongRoots()
		}
		return err
	})
	if err == nil {
		leastOfEach(r.Labels)
		r.Count, r.Largest = sizes(r.Labels)
	}
	return r, err
}

// strongRoots returns for each vertex one of its component, the same for all of them.
func (w *workspace) strongRoots() (roots []uint32, took time.Duration, err error) {
	in, err := w.incomingRows()
	if err != nil {
		return nil, 0, err
	}
	t, err := w.newTraversal("scc", 2*w.vertices, 0)
	if err != nil {
		return nil, 0, err
	}
	t.push.Graph.Memory[2], t.push.Extra = in.push.Memory[0], in.push.Memory[1]
	if err := t.run(func() error {
		return dispatch(w, w.strongBeginKernel(), groups(max(w.vertices, controlWords), largeGroup), t.push)
	}); err != nil {
		return nil, 0, err
	}
	roots, err = w.download(w.buffers["marks"], w.vertices)
	return roots, t.device, err
}

// leastOfEach replaces the root of each component by the component's least vertex.
func leastOfEach(labels []uint32) {
	least := make([]uint32, len(labels)) // 0: none yet; otherwise one more
	for v, root := range labels {
		if least[root] == 0 {
			least[root] = uint32(v) + 1
		}
		labels[v] = least[root] - 1
	}
}

// onSnapshot calls f with an Analyzer of a copy of the live graph as it is now. It adds how long the copy took to
// elapsed, as f leaves that.
func (a *Analyzer) onSnapshot(ctx context.Context, elapsed *time.Duration, f func(of *Analyzer) error) error {
	if err := a.gate.EnterShared(ctx); err != nil {
		return err
	}
	defer a.gate.LeaveShared()
	begun := time.Now()
	rows, err := a.on.CSR(ctx, false)
	if err != nil {
		return err
	}
	copied, of := time.Since(begun), New(rows)
	err = f(of)
	*elapsed += copied
	return joint.Error(err, joint.Error(of.Close(), rows.Close()))
}
