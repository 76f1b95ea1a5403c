package graph

import (
	"context"

	"github.com/vkds/vkds/internal/engine/gate"
)

// Prepare makes all kernels that calls on the graph may need (structures.Dictionary), those of CSR too. Errors: the
// context's, vk.ErrClosed, *vk.OutOfMemoryError, what making a kernel may return.
func (g *Graph) Prepare(ctx context.Context) error {
	ctx, end := g.told().Begin(ctx)
	defer end()
	if err := g.turns().EnterShared(ctx); err != nil {
		return err
	}
	forms, all := g.pool.Forms(), g.all()
	g.gate.LeaveShared()
	if g.prepared.Load() {
		return nil
	}
	err := all.Prepare(ctx, g.d, gate.Told(ctx), forms...)
	if err == nil {
		g.prepared.Store(true)
	}
	return err
}
