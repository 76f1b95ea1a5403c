package slabhash

import (
	"context"

	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Table is what a Map and a Set have in common.
type Table = *table

// NewWide makes a table of 64-bit keys, and of 64-bit values unless it is a set, for calls with device buffers.
func NewWide(ctx context.Context, d *vk.Device, o Options, keys bool) (Table, error) {
	columns := saved.Pairs[uint64, uint64]()
	if keys {
		columns = saved.Set[uint64]()
	}
	return newTable(ctx, d, columns, o)
}

// TableOf is that of a map.
func TableOf[K, V structures.Number](m *Map[K, V]) Table { return m.table }

// Visits is how many slabs the tiles of a table's kernels visit at most in a dispatch.
func Visits(x Table) uint32 { return x.visits }

// SetVisits has the tiles of a table's kernels visit so many slabs at most in a dispatch, until more are needed.
func SetVisits(x Table, n uint32) { x.visits = n }
