package graph

import (
	"context"

	"github.com/vkds/vkds/structures/graph/internal/rows"
	"github.com/vkds/vkds/vk"
)

// Transpose makes rows of the reversed arcs: the row of a vertex has the arcs that lead to it. It takes as much memory
// as BuildCSR. Errors: *vk.OutOfMemoryError, vk.ErrClosed, the context's.
func (g *CSR) Transpose(ctx context.Context) (t *CSR, err error) {
	err = g.onBuilder(ctx, func(b *rows.Builder) error {
		a, err := b.Transpose(ctx, g.arrays())
		t, err = csrOf(g.d, a, CSROptions{Vertices: g.Vertices, Symmetric: g.Symmetric}, err)
		return err
	})
	return t, err
}

func (g *CSR) rowsOf(ctx context.Context, _ *vk.Device, o CSROptions) (r *CSR, err error) {
	if g.made() {
		o.Vertices = max(o.Vertices, g.Vertices)
	}
	err = g.onBuilder(ctx, func(b *rows.Builder) error {
		if err := o.admits(g.Arcs); err != nil {
			return err
		}
		a, err := b.Rebuild(ctx, g.arrays(), rows.Options(o))
		r, err = csrOf(g.d, a, o, err)
		return err
	})
	return r, err
}

// onBuilder calls f with a builder on its own stream while the graph stays open.
func (g *CSR) onBuilder(ctx context.Context, f func(b *rows.Builder) error) error {
	return g.Use(ctx, func() error {
		s, err := g.d.NewStream()
		if err != nil {
			return err
		}
		defer s.Close()
		b := rows.New(s)
		defer b.Free()
		return f(b)
	})
}
