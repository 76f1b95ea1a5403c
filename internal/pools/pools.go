// Package pools is what structures ask of a pool of slabs beyond what its users do. Package alloc answers: it tells
// this one how when a program begins, and needn't have names for it that everybody sees.
package pools

import (
	"context"

	"github.com/vkds/vkds/internal/gate"
	"github.com/vkds/vkds/vk"
)

// Pool is an *alloc.SlabPool as structures see it whose slabs come from it.
type Pool interface {
	// Gate is that of all structures over the pool: who works on the pool in a call enters it, and calls the Inside of
	// the pool meanwhile.
	Gate() *gate.Gate
	// Accept answers why structures on a device can't use the pool: *vk.ForeignError where it is of another one,
	// vk.ErrClosed.
	Accept(d *vk.Device) error
	// GrowthSizes are those of the large buffers that Grow makes for so many memory blocks, without doubling, in bytes,
	// as vk.Device.Fits takes them. Error: *alloc.LimitError.
	GrowthSizes(blocks int) ([]uint64, error)
	// Occupy records that of all the pool's slabs the first n are allocated and the others are free, whatever was
	// before: those whose references pool_slab of slab_alloc.glsl returns for 0 to n-1. n is a word in device memory,
	// at the address count; of more slabs than the pool has, all are allocated. It is for whoever lays out slabs in an
	// order of his own. Errors: those of making a kernel.
	Occupy(s *vk.Stream, count uint64) error
	// Claim allocates so many free slabs that follow one another in the pool's numbering (pool_number of
	// slab_alloc.glsl), and returns the number of the first; the pool grows where there are none. They are freed one by
	// one, like others. It waits for the work that names the pool. Errors: those of alloc.SlabPool.Grow.
	Claim(ctx context.Context, slabs int) (first uint32, err error)
	// Forms are what Constants may be in the pool's life, for who makes kernels ahead: two, unless PoolOptions.MaxBytes
	// keeps it below one super block.
	Forms() []map[string]uint32
	// Inside is the pool, as an *alloc.SlabPool, to who has entered its gate: its calls take no turns.
	Inside() any
}

// Of sees a pool so. Package alloc sets it.
var Of func(pool any) Pool

// Sizes are those of a new pool's large buffers, by its alloc.PoolOptions, in bytes, as vk.Device.Fits takes them.
// Error: *alloc.LimitError. Package alloc sets it.
var Sizes func(options any) ([]uint64, error)

// Inside is Pool.Inside.
func Inside[P any](pool *P) *P { return Of(pool).Inside().(*P) }

// Relieve makes room where operations found a pool full of which so many slabs are free after that: it grows by so many
// memory blocks, or, where that can't be, by one. A pool that can't grow at all may still do, if some of it is free:
// those who had allocated for nothing have given their slabs back by now. It is an error only where nothing is free, or
// with insist.
// Errors: those of alloc.SlabPool.Grow.
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
