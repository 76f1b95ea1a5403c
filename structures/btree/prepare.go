package btree

import "context"

// Prepare makes all kernels that calls on the tree may need (structures.Dictionary).
func (t *tree) Prepare(ctx context.Context) error { return t.Handle.Prepare(ctx, t.all) }
