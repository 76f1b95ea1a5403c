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
	err = g.Use(ctx, func() error {
		s, err := g.d.NewStream()
		if err != nil {
			return err
		}
		defer s.Close()
		t, err = transpose(ctx, s, g.Rows)
		return err
	})
	return t, err
}

// transpose is Transpose of rows, on a stream.
func transpose(ctx context.Context, s *vk.Stream, r Rows) (*CSR, error) {
	b := newBuilder(s.Device(), s)
	defer b.free()
	sources, err := b.room(r.Arcs)
	if err != nil {
		return nil, err
	}
	k, err := recording.Kernel[csrSourcesPush](b.kernels, s, "graph/csr_sources", csrWorkgroup)
	if err != nil {
		return nil, err
	}
	k.Dispatch(s, groups((r.Arcs+7)/8), csrSourcesPush{r.Offsets.Address(), r.Targets.Address(),
		r.Weights.Address(), uint32(r.Vertices), uint32(r.Arcs), sources.Address()})
	t, err := b.build(ctx, DeviceEdges{Count: r.Arcs, From: r.Targets, To: sources, Weights: r.Weights},
		CSROptions{Vertices: r.Vertices})
	if t != nil {
		t.Symmetric = r.Symmetric
	}
	return t, err
}
