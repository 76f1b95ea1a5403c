package graph

import (
	"context"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

// Prepare makes all kernels that calls on the graph may need, those of CSR included (structures.Dictionary). Errors:
// the context's, vk.ErrClosed, *vk.OutOfMemoryError, those of making a kernel.
func (g *Graph) Prepare(ctx context.Context) error {
	if !g.made() {
		return vk.ErrNotOpen
	}
	return g.prepared.Prepare(ctx, g.d, g.gate, g.progress, func() (recording.Table, []recording.Form) {
		return g.all(), g.pool.Forms()
	})
}
