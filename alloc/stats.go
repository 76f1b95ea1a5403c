package alloc

import (
	"context"

	"github.com/vkds/vkds/vk"
)

// PoolStats is the state of a pool between two dispatches.
type PoolStats struct {
	Slabs       int    // the capacity
	Allocated   int    // slabs in use
	Free        int    // slabs not in use
	Bytes       uint64 // device memory taken
	SuperBlocks []SuperStats

	// Since the pool was made or reset, modulo 2^32:
	ResidentChanges uint32 // how often a subgroup left a full memory block for another: the probes of section V
	Failures        uint32 // allocations refused because no room was found
}

// SuperStats is the state of one super block.
type SuperStats struct {
	Slabs     int
	Allocated int
}

type countPush struct {
	Pool   DevicePool
	Counts uint64
}

// Stats counts the slabs in the pool's bitmaps by a kernel, and waits for it.
func (p *SlabPool) Stats(ctx context.Context) (PoolStats, error) {
	leave, err := p.enter(ctx)
	if err != nil {
		return PoolStats{}, err
	}
	defer leave()
	k, err := kernel[countPush](p, "count")
	if err != nil {
		return PoolStats{}, err
	}
	if p.counts == nil {
		if p.counts, err = vk.NewBuffer[uint32](p.memory, MaxSuperBlocks); err != nil {
			return PoolStats{}, err
		}
	}
	words := p.blocks() * bitmapWords
	p.stream.Fill(p.counts, 0, 4*MaxSuperBlocks, 0)
	k.Dispatch(p.stream, (words+k.Workgroup()-1)/k.Workgroup(), countPush{p.Device(), p.counts.Address()})
	if err := p.stream.Wait(context.WithoutCancel(ctx)); err != nil {
		return PoolStats{}, err
	}
	counts := make([]uint32, len(p.supers))
	if err := p.counts.Download(ctx, 0, counts); err != nil {
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
