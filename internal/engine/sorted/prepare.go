package sorted

import (
	"context"
	"slices"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures/primitives"
)

// Prepare makes all kernels that calls on the structure may need (structures.Dictionary).
func (c *Core) Prepare(ctx context.Context) error { return c.Handle.Prepare(ctx, c.kernels) }

func (c *Core) kernels() recording.Table {
	return slices.Concat(c.Queries.Kernels(c.Columns.Values.Type, c.of.Unique()), c.Own.FindKernels(),
		recording.KernelsOf[primitives.Operation](c.Primitives,
			primitives.SortArgs{Widths: c.Widths()},
			primitives.SortArgs{Widths: c.Widths(), Values: recording.Align},
			primitives.CompactArgs{Widths: c.Widths(), Values: recording.Align}))
}
