package slabs

import (
	"context"

	"github.com/vkds/vkds/vk"
)

// Stats are alloc.PoolStats.
type Stats struct {
	Slabs       int
	Allocated   int
	Free        int
	Bytes       uint64
	SuperBlocks []struct{ Slabs, Allocated int }

	ResidentChanges uint32
	Failures        uint32
}

type countPush struct {
	Pool   PoolDescription
	Counts uint64
}

// Stats counts the slabs in the pool's bitmaps by a kernel, and waits for it.
func (p *Pool) Stats(ctx context.Context) (Stats, error) {
	if err := context.Cause(ctx); err != nil {
		return Stats{}, err
	}
	k, err := kernel(p, p.countKernel())
	if err != nil {
		return Stats{}, err
	}
	if p.counts == nil {
		if p.counts, err = vk.NewBuffer[uint32](p.memory, MaxSuperBlocks); err != nil {
			return Stats{}, err
		}
	}
	words := p.blocks() * bitmapWords
	p.stream.Fill(p.counts, 0, MaxSuperBlocks, 0)
	p.mu.Lock()
	described := p.describe()
	p.mu.Unlock()
	k.Dispatch(p.stream, (words+k.Workgroup()-1)/k.Workgroup(), countPush{described, p.counts.Address()})
	if err := p.stream.Wait(context.WithoutCancel(ctx)); err != nil {
		return Stats{}, err
	}
	counts := make([]uint32, len(p.supers))
	if err := p.counts.Download(ctx, 0, counts); err != nil {
		return Stats{}, err
	}
	var counters [1]uint64 // the first word of the table: resident changes, failures
	if err := p.table.Download(ctx, 0, counters[:]); err != nil {
		return Stats{}, err
	}
	aside := map[*vk.Buffer[uint32]]int{}
	p.each(p.aside, func(bitmaps *vk.Buffer[uint32], _, words int) { aside[bitmaps] = 32 * words })
	stats := Stats{Bytes: p.Bytes(), ResidentChanges: uint32(counters[0]), Failures: uint32(counters[0] >> 32)}
	for i, s := range p.supers {
		super := struct{ Slabs, Allocated int }{s.blocks * BlockSlabs, int(counts[i]) - aside[s.bitmaps]}
		stats.SuperBlocks = append(stats.SuperBlocks, super)
		stats.Slabs += super.Slabs
		stats.Allocated += super.Allocated
	}
	stats.Free = stats.Slabs - stats.Allocated
	return stats, nil
}
