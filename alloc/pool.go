// Package alloc is the host side of the slab allocator: pools of 128-byte slabs that kernels allocate and free while
// they run (shaders/include/slab_alloc.glsl). The host creates a pool, grows it, counts its slabs and closes it.
//
// The allocator is SlabAlloc of Ashkiani, Farach-Colton and Owens, "A Dynamic Hash Table for the GPU" (2018), section
// V: super blocks consist of memory blocks of 1024 slabs, and each memory block has a bitmap. If a kernel finds its
// pool full, it marks the operations that it could not do and ends. The host then grows the pool and dispatches those
// operations again.
package alloc

import (
	"context"

	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/vk"
)

const (
	// SlabBytes is the size of a slab: 128.
	SlabBytes = slabs.SlabBytes
	// BlockSlabs is the number of slabs in a memory block: 1024.
	BlockSlabs = slabs.BlockSlabs
	// MaxSuperBlocks is the most super blocks of a pool: 256, because a reference has 8 bits for the super block.
	MaxSuperBlocks = slabs.MaxSuperBlocks
)

// PoolOptions configure a pool. The zero value is a pool of one memory block that may grow to the limit of the device's
// memory.
type PoolOptions struct {
	Blocks   int    // memory blocks of 1024 slabs (128 KiB) at first; 0 = 1
	MaxBytes uint64 // the most memory that the pool may keep; 0 = as much as the device has. A move takes more.
	// Memory, if not nil, is the budget that all memory of the pool is taken from.
	Memory *vk.Budget

	// SuperShift is log2 of the number of memory blocks in a super block, 2 to 13; 0 = 13. Tests use small super blocks
	// to have many of them without gigabytes of memory. Kernels get the value from Constants.
	SuperShift int
}

// PoolDescription is a pool as kernels see it. Put it into push constants unchanged: it is SlabPool of slab_alloc.glsl.
type PoolDescription struct {
	Table  uint64 // address of the table of super blocks
	Units  uint64 // address of the first super block's slabs
	Blocks uint32 // memory blocks in all super blocks
	Seed   uint32 // where subgroups begin to search for a free slab; differs from dispatch to dispatch
}

// SlabPool is a pool of slabs on one device. Several goroutines may use it, and several structures may share it. A call
// of the pool runs alone: it waits for the calls of the pool and of these structures that came before. Only
// Description, Light, Constants, Bytes, Growths and Uses never wait.
//
// Do not call Reset while recorded work that uses the pool runs. Grow and Close wait for work that is registered with
// Uses.
type SlabPool struct{ handle }

type handle = slabs.Handle // with a name that is not exported, so that it is not part of the documentation

// NewSlabPool makes a pool. All slabs are free and all their words are ~0. Errors: *vk.OptionError; *vk.LimitError if
// Blocks is more than the options or the references allow; *vk.OutOfMemoryError.
func NewSlabPool(ctx context.Context, d *vk.Device, o PoolOptions) (*SlabPool, error) {
	pool, err := slabs.New(ctx, d, slabs.Options(o))
	if err != nil {
		return nil, err
	}
	return &SlabPool{slabs.HandleOf(pool)}, nil
}

// pool returns the pool, or nil if NewSlabPool has not made the handle.
func (p *SlabPool) pool() *slabs.Pool {
	if p == nil {
		return nil
	}
	return slabs.Of(p)
}

// enter begins a call that runs alone. leave ends it.
func (p *SlabPool) enter(ctx context.Context) (pool *slabs.Pool, leave func(), err error) {
	pool = p.pool()
	err = pool.Gate().Enter(ctx)
	return pool, pool.Gate().Leave, err
}

// Description describes the pool for one dispatch. Call it for each dispatch, which then gets a Seed of its own, and
// always after Grow, which may move the first super block. For a closed pool it returns the zero value.
func (p *SlabPool) Description() PoolDescription { return PoolDescription(p.pool().Description()) }

// Uses returns the record of the work that uses the pool's memory. Code that records such work, with the description
// that Description returns, must register it there. Grow then waits until the work has ended, or returns
// vk.ErrUnsubmitted if it was not submitted, and Close frees the memory after it. The caller must wait for work that is
// not registered.
func (p *SlabPool) Uses() *vk.Uses { return p.pool().Uses() }

// Light reports whether the pool is one super block. This is the light variant of the paper's section V: a reference is
// an offset and needs no lookup in the table. Kernels are specialized for it (POOL_LIGHT), and must be specialized
// again when it changes.
func (p *SlabPool) Light() bool { return p.pool().Light() }

// Constants returns the specialization constants that a kernel over this pool needs, by name. Grow may change them.
func (p *SlabPool) Constants() map[string]uint32 { return p.pool().Constants() }

// Bytes returns the number of bytes of device memory that the pool takes.
func (p *SlabPool) Bytes() uint64 { return p.pool().Bytes() }

// Growths returns how often the pool has grown.
func (p *SlabPool) Growths() uint64 { return p.pool().Growths() }

// Grow adds at least the given number of memory blocks. If the pool's limits and the device's memory allow it, the pool
// doubles. Allocated slabs stay allocated, and references to them stay valid. Grow returns when the pool has grown.
//
// Up to 2^13 memory blocks (1 GiB), the pool is one super block. It grows by moving into a larger allocation, and both
// exist while it moves. Above that size, full super blocks are added, and nothing moves.
//
// Errors: *vk.LimitError, also if the device's largest buffer is less than 1 GiB, *vk.OutOfMemoryError,
// vk.ErrUnsubmitted (Uses), the context's. After an error the pool is as it was.
func (p *SlabPool) Grow(ctx context.Context, blocks int) error {
	pool, leave, err := p.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return pool.Grow(ctx, blocks)
}

// Reset frees all slabs, sets all their words to ~0, and sets the counters of Stats to 0. The pool keeps its size.
// Reset returns when this is done; once begun, it does not stop when the context ends.
func (p *SlabPool) Reset(ctx context.Context) error {
	pool, leave, err := p.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return pool.Reset(ctx)
}

// PoolStats is the state of a pool between two dispatches.
type PoolStats struct {
	Slabs       int    // the capacity
	Allocated   int    // slabs in use
	Free        int    // slabs not in use
	Bytes       uint64 // device memory taken
	SuperBlocks []struct{ Slabs, Allocated int }

	// Since the pool was made or reset, modulo 2^32:
	ResidentChanges uint32 // how often a subgroup left a full memory block for another: the probes of section V
	Failures        uint32 // allocations refused because no room was found
}

// Stats counts the slabs in the pool's bitmaps by a kernel, and waits for it.
func (p *SlabPool) Stats(ctx context.Context) (PoolStats, error) {
	pool, leave, err := p.enter(ctx)
	if err != nil {
		return PoolStats{}, err
	}
	defer leave()
	s, err := pool.Stats(ctx)
	return PoolStats(s), err
}

// Close waits for the calls before it, and frees the pool after the work that is registered with Uses. Further calls of
// Close do nothing; other methods return vk.ErrClosed.
func (p *SlabPool) Close() error {
	pool := p.pool()
	return pool.Gate().Close(pool.Close)
}
