package graph

import "context"

// Prepare makes all kernels that calls on the graph may need, those of CSR included (structures.Dictionary). Errors:
// the context's, vk.ErrClosed, *vk.OutOfMemoryError, those of making a kernel.
func (g *Graph) Prepare(ctx context.Context) error { return g.handle().Prepare(ctx, g.all) }
