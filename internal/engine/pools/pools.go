// Package pools gives structures functions of a pool of slabs that are not public. Package alloc implements them and
// sets the variables of this package when the program begins.
package pools

import (
	"context"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/vk"
)

// Pool has the internal functions of an *alloc.SlabPool, for structures that take slabs from it.
type Pool interface {
	// Gate returns the gate of the pool and of all structures that use it. A call that works on the pool enters the
	// gate and uses the pool that Inside returns.
	Gate() *gate.Gate
	// Accept returns an error if structures on a device cannot use the pool: *vk.ForeignError if the pool is of another
	// device, vk.ErrClosed if it is closed.
	Accept(d *vk.Device) error
	// GrowthSizes returns the sizes in bytes of the large buffers that Grow makes for a number of memory blocks,
	// without doubling, for vk.Device.Fits. Error: *alloc.LimitError.
	GrowthSizes(blocks int) ([]uint64, error)
	// Occupy records that the first n slabs of the pool become allocated and all others free, whatever they were
	// before. The first n slabs are those whose references pool_slab of slab_alloc.glsl returns for 0 to n-1. n is a
	// word in device memory, at the address count; if it exceeds the pool's slabs, all of them become allocated.
	// Callers use it after they have placed slabs themselves. Errors: those of making a kernel.
	Occupy(s *vk.Stream, count uint64) error
	// Claim allocates a number of free slabs that are consecutive in the pool's numbering (pool_number of
	// slab_alloc.glsl), and returns the number of the first. If there are no such slabs, the pool grows. The slabs are
	// freed one by one, like others. Claim waits for the work that uses the pool. Errors: those of alloc.SlabPool.Grow.
	Claim(ctx context.Context, slabs int) (first uint32, err error)
	// Forms returns all values that Constants can have while the pool exists, for making kernels in advance. There are
	// two, unless PoolOptions.MaxBytes limits the pool to less than one super block.
	Forms() []map[string]uint32
	// Inside returns the pool as an *alloc.SlabPool for a caller that has entered its gate. Calls on it do not enter
	// the gate again.
	Inside() any
}

// Of returns the Pool of an *alloc.SlabPool. Package alloc sets it.
var Of func(pool any) Pool

// Sizes returns the sizes in bytes of the large buffers of a new pool with the given alloc.PoolOptions, for
// vk.Device.Fits. Error: *alloc.LimitError. Package alloc sets it.
var Sizes func(options any) ([]uint64, error)

// Inside returns Pool.Inside with the pool's type.
func Inside[P any](pool *P) *P { return Of(pool).Inside().(*P) }

// Relieve grows a pool after operations found it full: by blocks memory blocks, or by one if that fails. free is the
// number of slabs that were free after the operations. If the pool cannot grow but has free slabs, Relieve returns nil,
// because the operations may succeed with those: other operations have returned slabs that they did not need. If insist
// is set, it returns the error in this case, too. Errors: those of alloc.SlabPool.Grow.
func Relieve(ctx context.Context, pool interface {
	Grow(ctx context.Context, blocks int) error
}, free, blocks int, insist bool) error {
	err := pool.Grow(ctx, blocks)
	if err != nil && blocks > 1 {
		err = pool.Grow(ctx, 1)
	}
	if !insist && free != 0 {
		return nil
	}
	return err
}
