package alloc

import (
	"cmp"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/pools"
	"github.com/vkds/vkds/vk"
)

// backstage is a pool as seen by the structures that allocate from it. It implements pools.Pool, which documents the
// methods.
type backstage struct{ pool *SlabPool }

func init() {
	pools.Of = func(pool any) pools.Pool { return backstage{pool.(*SlabPool)} }
	pools.Sizes = func(options any) ([]uint64, error) { return options.(PoolOptions).sizes() }
}

func (b backstage) Gate() *gate.Gate { return b.pool.gate }

func (b backstage) Inside() any { return &SlabPool{b.pool.state, true} }

func (b backstage) Accept(d *vk.Device) error {
	if !b.pool.made() {
		return vk.ErrNotOpen
	}
	if b.pool.d != d {
		return &vk.ForeignError{What: "pool of slabs"}
	}
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	if len(b.pool.supers) == 0 {
		return vk.ErrClosed
	}
	return nil
}

func (b backstage) GrowthSizes(blocks int) ([]uint64, error) {
	if err := b.pool.admits(blocks); err != nil || blocks <= 0 {
		return nil, err
	}
	return b.pool.growth(b.pool.whole(b.pool.blocks() + blocks)), nil
}

func (b backstage) Forms() []map[string]uint32 {
	all := []map[string]uint32{b.pool.constants(true)}
	if b.pool.mostBlocks() > b.pool.perSuper() {
		all = append(all, b.pool.constants(false))
	}
	return all
}

func (o PoolOptions) sizes() ([]uint64, error) {
	p := SlabPool{state: &state{shift: cmp.Or(o.SuperShift, defaultSuperShift), maxBytes: o.MaxBytes}}
	blocks := max(o.Blocks, 1)
	if err := p.admits(blocks); err != nil {
		return nil, err
	}
	return p.growth(blocks), nil
}
