package slabhash

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// NewWide makes a table of 64-bit keys, and of 64-bit values unless it is a set, for calls with device buffers.
func NewWide(ctx context.Context, d *vk.Device, o Options, keys bool) (Table, error) {
	return newTable[uint64](ctx, d, o, keys)
}

// Table is what a Map and a Set have in common.
type Table = anyTable

// TableOf is that of a map.
func TableOf[K, V structures.Number](m *Map[K, V]) Table { return m.table }

func (t *table[W]) setVisits(n uint32) { t.visits = n }

// Visits is how many slabs the tiles of a table's kernels visit at most in a dispatch.
func Visits(x Table) uint32 {
	if narrow, is := x.(*table[uint32]); is {
		return narrow.visits
	}
	return x.(*table[uint64]).visits
}

// SetVisits has the tiles of a table's kernels visit so many slabs at most in a dispatch, until more are needed.
func SetVisits(x Table, n uint32) { x.(interface{ setVisits(uint32) }).setVisits(n) }
