package analytics

import (
	"context"
	"errors"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/internal/ahead"
	"github.com/vkds/vkds/vk"
)

// Prepare makes all kernels that the Analyzer's calls may need, for any options and sizes, so that no later call makes
// one: a driver may take seconds for those of the first calls. graph.Graph.Prepare makes those of the graph's own
// calls. Prepare does nothing with the graph, runs beside other calls on all processors, and returns when it is done.
// If the context ends, Prepare stops between two kernels and keeps those that it has made. A second call does nothing.
// Errors: the context's, vk.ErrClosed, *vk.OutOfMemoryError, what making a kernel may return.
func (a *Analyzer) Prepare(ctx context.Context) error {
	if err := a.turns().EnterShared(ctx); err != nil {
		return err
	}
	defer a.gate.LeaveShared()
	if a.prepared.Load() {
		return nil
	}
	err := a.prepare(ctx)
	if err == nil {
		a.prepared.Store(true)
	}
	return err
}

func (a *Analyzer) prepare(ctx context.Context) error {
	if a.on == nil {
		return recording.Prepare(ctx, a.d, nil, a.rehearsals())
	}
	forms, err := ahead.Forms(ctx, a.on)
	if err != nil {
		return err
	}
	small := func(ctx context.Context, form recording.Form) ([]recording.Part, func(), error) {
		g, end, err := ahead.Small(ctx, a.on, form)
		if err != nil {
			return nil, nil, err
		}
		of := NewLive(g.(*graph.Graph))
		of.bulk = a.bulk
		if form["POOL_LIGHT"] == 0 {
			of.kernels.General()
		}
		return of.rehearsals(), end, nil
	}
	return recording.PrepareForms(ctx, a.d, nil, forms, small, nil)
}

// calls are all that an Analyzer may be asked for.
var calls = []func(*Analyzer, context.Context) error{
	func(a *Analyzer, ctx context.Context) error {
		_, err := a.BFS(ctx, 0, BFSOptions{Parents: true})
		return err
	},
	func(a *Analyzer, ctx context.Context) error {
		_, err := a.SSSP(ctx, 0, SSSPOptions{})
		return err
	},
	func(a *Analyzer, ctx context.Context) error {
		_, err := a.Components(ctx)
		return err
	},
	func(a *Analyzer, ctx context.Context) error {
		_, err := a.PageRank(ctx, PageRankOptions{Iterations: 1})
		return err
	},
	func(a *Analyzer, ctx context.Context) error {
		_, err := a.Triangles(ctx)
		return err
	},
	func(a *Analyzer, ctx context.Context) error {
		_, err := a.TrianglesThroughEdges(ctx, []uint32{0}, []uint32{0})
		return err
	},
	func(a *Analyzer, ctx context.Context) error {
		_, err := a.Cores(ctx)
		return err
	},
}

// rehearsals are the calls, each of which records what it would with graphs of all sizes.
func (a *Analyzer) rehearsals() (parts []recording.Part) {
	for _, call := range calls {
		parts = append(parts, func(ctx context.Context, s *vk.Stream) error {
			for _, n := range recording.Sizes(graph.MaxArcs) {
				if err := a.rehearse(ctx, s, n, call); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return parts
}

// rehearse does a call by an Analyzer that keeps nothing of others, and takes the graph's size to be another.
func (a *Analyzer) rehearse(ctx context.Context, s *vk.Stream, size int,
	call func(*Analyzer, context.Context) error) (err error) {
	r := newAnalyzer(a.d)
	r.g, r.on, r.group, r.kernels, r.bulk = a.g, a.on, a.group, a.kernels, a.bulk
	r.rehearses, r.size = s, size
	defer func() { err = joint.Error(err, r.Close()) }()
	if err := call(r, ctx); !errors.Is(err, ErrDirected) { // not all graphs are asked for everything
		return err
	}
	return nil
}

// snapshot is a directed graph as it is now.
func (a *Analyzer) snapshot(ctx context.Context) (*graph.CSR, error) {
	if a.rehearses == nil {
		return a.on.CSR(ctx, false)
	}
	rows, err := ahead.CSR(ctx, a.rehearses, a.on, a.size)
	if err != nil {
		return nil, err
	}
	return rows.(*graph.CSR), nil
}

// transposed is the graph with each arc turned round.
func (w *workspace) transposed() (*graph.CSR, error) {
	if w.rehearses == nil {
		return w.g.Transpose(w.ctx)
	}
	rows, err := ahead.Transpose(w.ctx, w.s, w.g, w.vertices, w.arcs)
	if err != nil {
		return nil, err
	}
	return rows.(*graph.CSR), nil
}
