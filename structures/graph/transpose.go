package graph

import (
	"context"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

type csrSourcesPush struct {
	Offsets, Targets, Weights uint64
	Vertices, Arcs            uint32
	Sources                   uint64
}

// Transpose makes the graph with each arc turned round, which has those that lead to a vertex in its row. It takes the
// memory that BuildCSR does. Errors: *vk.OutOfMemoryError, vk.ErrClosed, the context's.
func (g *CSR) Transpose(ctx context.Context) (t *CSR, err error) {
	err = g.onStream(ctx, func(s *vk.Stream) error {
		t, err = transpose(ctx, s, g.Rows)
		return err
	})
	return t, err
}

// recordSources records that the vertex that each arc of rows comes from is written.
func recordSources(kernels *recording.Kernels, s *vk.Stream, r Rows, sources *vk.Buffer[uint32]) error {
	k, err := recording.Kernel[csrSourcesPush](kernels, s, "graph/csr_sources", csrWorkgroup)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups((r.Arcs+7)/8), csrSourcesPush{r.Offsets.Address(), r.Targets.Address(),
		r.Weights.Address(), uint32(r.Vertices), uint32(r.Arcs), sources.Address()})
	return nil
}

// transpose is Transpose of rows, on a stream.
func transpose(ctx context.Context, s *vk.Stream, r Rows) (*CSR, error) {
	b := newBuilder(s.Device(), s)
	defer b.free()
	sources, err := b.room(r.Arcs)
	if err != nil {
		return nil, err
	}
	if err := recordSources(b.kernels, s, r, sources); err != nil {
		return nil, err
	}
	t, err := b.build(ctx, DeviceEdges{Count: r.Arcs, From: r.Targets, To: sources, Weights: r.Weights},
		CSROptions{Vertices: r.Vertices})
	if t != nil {
		t.Symmetric = r.Symmetric
	}
	return t, err
}

func (g *CSR) rowsOf(ctx context.Context, _ *vk.Device, o CSROptions) (r *CSR, err error) {
	if g.made() {
		o.Vertices = max(o.Vertices, g.Vertices)
	}
	err = g.onStream(ctx, func(s *vk.Stream) error {
		b := newBuilder(g.d, s)
		defer b.free()
		sources, err := b.room(g.Arcs)
		if err != nil {
			return err
		}
		if err := recordSources(b.kernels, s, g.Rows, sources); err != nil {
			return err
		}
		r, err = b.build(ctx, DeviceEdges{Count: g.Arcs, From: sources, To: g.Targets, Weights: g.Weights}, o)
		return err
	})
	return r, err
}

// onStream runs f with a stream of its own while the graph stays open.
func (g *CSR) onStream(ctx context.Context, f func(s *vk.Stream) error) error {
	return g.Use(ctx, func() error {
		s, err := g.d.NewStream()
		if err != nil {
			return err
		}
		defer s.Close()
		return f(s)
	})
}
