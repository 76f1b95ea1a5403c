package btree

import (
	"context"

	"github.com/vkds/vkds/internal/engine/recording"
)

// Prepare makes all kernels that calls on the tree may need (structures.Dictionary).
func (t *tree) Prepare(ctx context.Context) error {
	return t.prepared.Prepare(ctx, t.d, t.gate, t.progress, func() (recording.Table, []recording.Form) {
		return t.all(), t.pool.Forms()
	})
}
