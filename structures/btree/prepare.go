package btree

import (
	"context"

	"github.com/vkds/vkds/internal/engine/gate"
)

// Prepare makes all kernels that calls on the tree may need (structures.Dictionary).
func (t *tree) Prepare(ctx context.Context) error {
	ctx, end := t.progress.Begin(ctx)
	defer end()
	if err := t.gate.EnterShared(ctx); err != nil {
		return err
	}
	forms, all := t.pool.Forms(), t.all()
	t.gate.LeaveShared()
	if t.prepared.Load() {
		return nil
	}
	err := all.Prepare(ctx, t.d, gate.Told(ctx), forms...)
	if err == nil {
		t.prepared.Store(true)
	}
	return err
}
