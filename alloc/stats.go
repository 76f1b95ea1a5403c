package alloc

import (
	"context"

	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/vk"
)

// PoolStats is a pool's state between two dispatches.
type PoolStats struct {
	Slabs       int    // the capacity
	Allocated   int    // slabs in use
	Free        int    // slabs not in use
	Bytes       uint64 // device memory taken
	SuperBlocks []SuperStats

	// Since the pool was made or reset, modulo 2^32:
	ResidentChanges uint32 // memory blocks that a subgroup found full and left for another: the probes of section V
	Failures        uint32 // allocations refused because no room was found
}

// SuperStats is the state of one super block.
type SuperStats struct {
	Slabs     int
	Allocated int
}

// counter is the kernel that counts what is allocated.
type counter struct {
	kernel *vk.Kernel[countPush]
	counts *vk.Buffer[uint32] // one a super block
}

type countPush struct {
	Pool   DevicePool
	Counts uint64
}

func (c *counter) init(d *vk.Device, shift int) error {
	if c.kernel != nil {
		return nil
	}
	m, err := shaders.Load("alloc/count")
	if err != nil {
		return err
	}
	counts, err := vk.NewBuffer[uint32](d, MaxSuperBlocks)
	if err != nil {
		return err
	}
	kernel, err := vk.NewKernel[countPush](
		d, m, vk.KernelOptions{Constants: map[string]uint32{"POOL_SUPER_SHIFT": uint32(shift)}})
	if err != nil {
		counts.Free()
		return err
	}
	c.kernel, c.counts = kernel, counts
	return nil
}

func (c *counter) free() {
	if c.kernel != nil {
		c.kernel.Free()
		c.counts.Free()
		*c = counter{}
	}
}

// Stats counts the pool's slabs, from its bitmaps by a kernel, and returns when that is done.
func (p *SlabPool) Stats(ctx context.Context) (PoolStats, error) {
	leave, err := p.enter(ctx)
	if err != nil {
		return PoolStats{}, err
	}
	defer leave()
	if err := p.counter.init(p.d, p.shift); err != nil {
		return PoolStats{}, err
	}
	c := &p.counter
	words := p.blocks() * bitmapWords
	p.stream.Fill(c.counts, 0, 4*MaxSuperBlocks, 0)
	c.kernel.Dispatch(p.stream, (words+c.kernel.Workgroup()-1)/c.kernel.Workgroup(),
		countPush{p.Device(), c.counts.Address()})
	if err := p.stream.Wait(context.WithoutCancel(ctx)); err != nil {
		return PoolStats{}, err
	}
	counts := make([]uint32, len(p.supers))
	if err := c.counts.Download(ctx, 0, counts); err != nil {
		return PoolStats{}, err
	}
	var counters [1]uint64 // the first word of the table: resident changes, failures
	if err := p.table.Download(ctx, 0, counters[:]); err != nil {
		return PoolStats{}, err
	}
	stats := PoolStats{Bytes: p.Bytes(), ResidentChanges: uint32(counters[0]), Failures: uint32(counters[0] >> 32)}
	for i, s := range p.supers {
		super := SuperStats{Slabs: s.blocks * BlockSlabs, Allocated: int(counts[i])}
		stats.SuperBlocks = append(stats.SuperBlocks, super)
		stats.Slabs += super.Slabs
		stats.Allocated += super.Allocated
	}
	stats.Free = stats.Slabs - stats.Allocated
	return stats, nil
}
