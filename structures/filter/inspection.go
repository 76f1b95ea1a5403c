package filter

import (
	"context"
	"math"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Stats are the measurements of a filter.
type Stats struct {
	Blocks  uint64 // of 32 bytes
	Bytes   uint64 // device memory of the blocks
	BitsSet uint64
	// Keys is an estimate of the number of different keys that were inserted, by BitsSet. If all bits are set, it is
	// the greatest number.
	Keys uint64
	// FalsePositives is the share of absent keys that Contains reports as there, if there are so many keys.
	FalsePositives float64
}

// Inspection reports the statistics of a filter.
type Inspection struct{ core *core }

// Inspect returns the filter's Inspection.
func (f *Filter[K]) Inspect() Inspection { return Inspection{f.open()} }

// Metrics returns what the host knows, without waiting for the device.
func (i Inspection) Metrics() structures.Metrics { return i.core.Metrics() }

// Stats measures the filter. It waits for a kernel that reads all of it.
func (i Inspection) Stats(ctx context.Context) (Stats, error) { return i.core.stats(ctx) }

const sums = 1024 // SUMS of count.comp

func (c *core) stats(ctx context.Context) (Stats, error) {
	if err := c.EnterShared(ctx); err != nil {
		return Stats{}, err
	}
	defer c.LeaveShared()
	parts, err := vk.NewBuffer[uint32](c.Device, sums)
	if err != nil {
		return Stats{}, err
	}
	defer parts.Free()
	err = c.do(ctx, func(s *vk.Stream) error {
		s.Fill(parts, 0, parts.Len(), 0)
		return c.recordCount(s, parts.Address())
	})
	if err != nil {
		return Stats{}, err
	}
	words := make([]uint32, sums)
	if err := parts.Download(ctx, 0, words); err != nil {
		return Stats{}, err
	}
	all := Stats{Blocks: uint64(c.count), Bytes: c.blocks.Bytes()}
	for _, word := range words {
		all.BitsSet += uint64(word)
	}
	load := loadOf(float64(all.BitsSet) / float64(8*all.Bytes))
	all.FalsePositives, all.Keys = rate(load), math.MaxUint64
	if keys := math.Round(load * float64(c.count)); keys < math.MaxInt64 {
		all.Keys = uint64(keys)
	}
	return all, nil
}
