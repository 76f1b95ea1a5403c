package slabhash

import (
	"context"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/vk"
)

func (t *table) Reserve(ctx context.Context, n int) error {
	if err := t.Err(); err != nil {
		return err
	}
	if n < 0 {
		return &vk.OptionError{Option: "Capacity", Reason: "negative"}
	}
	ctx, end := t.Progress.Begin(ctx)
	defer end()
	if err := t.Enter(ctx); err != nil {
		return err
	}
	defer t.Leave()
	buckets := max(t.bucketsFor(uint64(n)), t.base.buckets)
	stats, err := t.Pool.Stats(ctx)
	if err != nil {
		return err
	}
	have, err := t.survey(ctx, t.Stream, false)
	if err != nil {
		return err
	}
	need := stats.Allocated + t.Pool.Aside() + t.chainSlabs(n, buckets)
	if buckets == t.base.buckets {
		need -= int(have.slabs - t.baseSlabs(buckets)) // the chains that exist stay, and only grow
	}
	blocks := (need - stats.Slabs + slabs.BlockSlabs - 1) / slabs.BlockSlabs
	if err := t.fits(buckets, blocks); err != nil {
		return t.noCapacity(n, err)
	}
	if err := t.Pool.Room(ctx, blocks); err != nil || buckets == t.base.buckets {
		return err
	}
	return t.rehash(ctx, buckets, gate.Told(ctx))
}

// fits returns an error if there is no room for that many buckets and that many more memory blocks.
func (t *table) fits(buckets uint32, blocks int) error {
	if buckets == maxBuckets {
		return errBuckets
	}
	sizes, err := t.Pool.GrowthSizes(blocks)
	if err != nil {
		return err
	}
	if buckets != t.base.buckets {
		sizes = append(sizes, t.baseWords(buckets)*4)
	}
	return t.memory.Fits(sizes...)
}

// chainSlabs estimates the number of slabs after the base slabs, and adds an eighth and a memory block: if few slabs
// are free, allocations don't find them all.
func (t *table) chainSlabs(pairs int, buckets uint32) int {
	return int(t.chained(float64(pairs), buckets)*9/8) + slabs.BlockSlabs
}
