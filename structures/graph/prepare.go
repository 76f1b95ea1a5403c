package graph

import (
	"context"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph/internal/ahead"
	"github.com/vkds/vkds/vk"
)

// Prepare makes the kernels that calls on the graph need, so that none of them has to: a driver may take seconds for
// those of the first calls. It does so by a small graph of the same sort, beside other calls (structures.Dictionary). A
// second time it does nothing. What sorts rows of a CSR, or the arcs of a large bulk build, by their number, is made
// when it is first needed. Errors: the context's, vk.ErrClosed, *vk.OutOfMemoryError, what making a kernel may return.
func (g *Graph) Prepare(ctx context.Context) error {
	ctx, end := g.told().Begin(ctx)
	defer end()
	forms, err := g.forms(ctx)
	if err != nil || g.prepared.Load() {
		return err
	}
	small := func(ctx context.Context, form recording.Form) ([]recording.Part, func(), error) {
		x, end, err := g.small(ctx, form)
		if err != nil {
			return nil, nil, err
		}
		return []recording.Part{x.rehearse}, end, nil
	}
	err = recording.PrepareForms(ctx, g.d, gate.Told(ctx), forms, small, g.try)
	if err == nil {
		g.prepared.Store(true)
	}
	return err
}

func init() {
	ahead.Forms = func(ctx context.Context, g any) ([]recording.Form, error) { return g.(*Graph).forms(ctx) }
	ahead.Small = func(ctx context.Context, g any, form recording.Form) (any, func(), error) {
		return g.(*Graph).small(ctx, form)
	}
	ahead.CSR = func(ctx context.Context, s *vk.Stream, g any, vertices int) (any, error) {
		return g.(*Graph).rehearseCSR(ctx, s, vertices)
	}
	ahead.Transpose = func(ctx context.Context, s *vk.Stream, csr any, vertices, arcs int) (any, error) {
		rows := csr.(*CSR).Rows
		rows.Vertices, rows.Arcs = vertices, arcs
		return transpose(ctx, s, rows)
	}
}

// forms are those of the graph's pool.
func (g *Graph) forms(ctx context.Context) ([]recording.Form, error) {
	if err := g.turns().EnterShared(ctx); err != nil {
		return nil, err
	}
	defer g.gate.LeaveShared()
	return g.pool.Forms(), nil
}

// small makes an empty graph with the kernels that this one has while its pool has such constants.
func (g *Graph) small(ctx context.Context, form recording.Form) (_ *Graph, end func(), err error) {
	pool, err := alloc.NewSlabPool(ctx, g.d, alloc.PoolOptions{SuperShift: int(form["POOL_SUPER_SHIFT"])})
	if err != nil {
		return nil, nil, err
	}
	o := g.o
	o.Pool, o.Progress, o.Vertices, o.Capacity = pool, nil, 0, 0
	x, err := New(ctx, g.d, o)
	if err != nil {
		_ = pool.Close()
		return nil, nil, err
	}
	x.ownPool = g.ownPool // by which kernels that free slabs differ
	if form["POOL_LIGHT"] == 0 {
		x.kernels.General()
	}
	return x, func() { // what they had to do was waited for
		x.ownPool = false
		_ = x.Close()
		_ = pool.Close()
	}, nil
}

// rehearse records what batches of all kinds and sizes take.
func (g *Graph) rehearse(ctx context.Context, s *vk.Stream) error {
	for kind := structures.Insert; kind <= structures.Delete; kind++ {
		if !g.o.does(kind) {
			continue
		}
		if err := g.recordApply(s, g.o.kind(kind), operands{count: 1, arcs: g.arcs()}); err != nil {
			return err
		}
		if kind == structures.Delete {
			continue
		}
		b := operands{keys: recording.Align, statuses: recording.Align, count: 1, arcs: g.arcs()}
		if err := g.recordInOrder(s, g.o.kind(kind), b); err != nil {
			return err
		}
	}
	for _, n := range recording.Sizes(MaxVertices) {
		rows, err := g.rehearseCSR(ctx, s, n)
		if err != nil {
			return err
		}
		if err := rows.Close(); err != nil {
			return err
		}
	}
	return g.recordApply(s, structures.Delete, operands{count: 1, arcs: 1}) // repair
}

// rehearseCSR is CSR, unsorted, of a graph that has so many vertices.
func (g *Graph) rehearseCSR(ctx context.Context, s *vk.Stream, vertices int) (*CSR, error) {
	if err := g.enterShared(ctx); err != nil {
		return nil, err
	}
	defer g.gate.LeaveShared()
	rows, err := g.rows(ctx, s, vertices, false)
	return newCSR(g.d, rows), err
}

// try does with a small graph what can be done with one.
func (g *Graph) try(ctx context.Context, form recording.Form) error {
	x, end, err := g.small(ctx, form)
	if err != nil {
		return err
	}
	defer end()
	const n = 1000
	e := Edges{From: make([]uint32, n), To: make([]uint32, n)}
	for i := range n { // a hub, which gets buckets
		e.From[i], e.To[i] = 1, uint32(i+2)
	}
	if g.o.Weighted {
		e.Weights = make([]uint32, n)
	}
	for _, call := range []func() error{
		func() error { _, err := x.InsertEdges(ctx, e); return err },
		func() error { return x.FindEdgesInto(ctx, e, nil, make([]bool, n)) },
		func() error { _, err := x.Neighbors(ctx, []uint32{1}); return err },
		func() error { _, _, err := x.Size(ctx); return err },
		func() error { _, err := x.Stats(ctx); return err },
		func() error { _, err := x.InsertVertices(ctx, []uint32{n + 5}); return err },
		func() error { _, err := x.DeleteVertices(ctx, []uint32{3}); return err },
		func() error { return x.Check(ctx) },
		func() error { return x.Rehash(ctx) },
		func() error {
			rows, err := x.CSR(ctx, true)
			if err != nil {
				return err
			}
			return rows.Close()
		},
	} {
		if err := call(); err != nil {
			return err
		}
	}
	return nil
}
