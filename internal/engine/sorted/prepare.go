package sorted

import (
	"context"
	"slices"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures/primitives"
)

// Prepare makes all kernels that calls on the structure may need (structures.Dictionary).
func (c *Core) Prepare(ctx context.Context) error {
	ctx, end := c.Progress.Begin(ctx)
	defer end()
	if err := c.gate.EnterShared(ctx); err != nil {
		return err
	}
	c.gate.LeaveShared()
	if c.prepared.Load() {
		return nil
	}
	err := c.kernels().Prepare(ctx, c.Device, gate.Told(ctx))
	if err == nil {
		c.prepared.Store(true)
	}
	return err
}

func (c *Core) kernels() recording.Table {
	return slices.Concat(c.Queries.Kernels(c.Columns.Values.Type, c.of.Unique()), c.own.FindKernels(),
		recording.KernelsOf[primitives.Operation](c.Primitives,
			primitives.SortArgs{Widths: c.Widths()},
			primitives.SortArgs{Widths: c.Widths(), Values: recording.Align},
			primitives.CompactArgs{Widths: c.Widths(), Values: recording.Align}))
}
