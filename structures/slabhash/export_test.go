package slabhash

import (
	"context"

	"github.com/vkds/vkds/vk"
)

// NewWide makes a table of 64-bit keys, and of 64-bit values unless it is a set, for calls with device buffers.
func NewWide(ctx context.Context, d *vk.Device, o Options, keys bool) (Table, error) {
	t, err := newTable[uint64](ctx, d, o, keys)
	return Table{t}, err
}

func (t *table[W]) setVisits(n uint32) { t.visits = n }

// Visits is how many slabs the tiles of a table's kernels visit at most in a dispatch.
func Visits(x Table) uint32 {
	if narrow, is := x.t.(*table[uint32]); is {
		return narrow.visits
	}
	return x.t.(*table[uint64]).visits
}

// SetVisits has the tiles of a table's kernels visit so many slabs at most in a dispatch, until more are needed.
func SetVisits(x Table, n uint32) { x.t.(interface{ setVisits(uint32) }).setVisits(n) }
