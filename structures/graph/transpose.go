package graph

import (
	"context"

	"github.com/vkds/vkds/structures/internal/recording"
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
		sources, err := vk.NewBuffer[uint32](g.d, g.Arcs)
		if err != nil {
			return err
		}
		defer s.Finally(sources.Free)
		k, err := recording.Kernel[csrSourcesPush](recording.NewKernels(g.d), s, "graph/csr_sources", csrWorkgroup)
		if err != nil {
			return err
		}
		k.Dispatch(s, groups((g.Arcs+7)/8), csrSourcesPush{g.Offsets.Address(), g.Targets.Address(),
			g.Weights.Address(), uint32(g.Vertices), uint32(g.Arcs), sources.Address()})
		t, err = BuildCSROn(ctx, s, DeviceEdges{Count: g.Arcs, From: g.Targets, To: sources, Weights: g.Weights},
			CSROptions{Vertices: g.Vertices})
		return err
	})
	if t != nil {
		t.Symmetric = g.Symmetric
	}
	return t, err
}
