package slabhash

import (
	"errors"
	"fmt"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Options say how a table is made. The zero value makes a small table that grows as it must.
type Options struct {
	// Capacity is how many pairs (of a set: keys) the table is laid out for: it gets so many buckets that
	// with these it has Load. More may be inserted. 0: none are known of.
	Capacity int
	// Buckets, if not 0, is the number of buckets to begin with, whatever Capacity says; at least 4.
	Buckets int
	// Load is the number of slabs a bucket (pairs / (15 * buckets), of a set keys / (30 * buckets); of 64 bits
	// 7 and 15) that a table is laid out for, β of section III-C of the paper. Small ones are fast, large ones save
	// memory; around 0.7 most buckets are one slab. 0.01 to 100; 0: DefaultLoad.
	Load float64
	// MaxLoad is the load, erased slots counted in, above which a synchronous insertion first rehashes the
	// table to Load. 0: DefaultMaxLoad; negative: never.
	MaxLoad float64
	// Pool is where slabs come from, beside the base slabs. nil: the table has a pool of its own. What shares a pool
	// takes turns, and has it grow when the work on all of them has ended.
	Pool *alloc.SlabPool
	// MaxBytes is the most memory that the table may keep: its buckets, its own pool, and both copies of
	// either while it grows. 0: as much as there is. If an update needs more, it returns *vk.LimitError.
	// Package structures says which memory of calls comes on top.
	MaxBytes uint64
	// Seed varies the hash function.
	Seed uint32
	// Tile is how many lanes work on one slab together, in every kernel: a power of two up to 8 and to
	// the subgroup size. 0: what measured best on this type of device, kernel by kernel.
	Tile int
	// Timed has the kernels of Flush, Rehash and Clear timed by the device, for Timings.
	Timed bool
	// Progress, if not nil, is told how long calls get on.
	Progress structures.Progress
}

const (
	DefaultLoad    = 0.7
	DefaultMaxLoad = 1.2

	minLoad = 0.01  // pairs would be all but alone in their memory
	maxLoad = 100.0 // lists would be so long

	minBuckets = 4 // so that no bucket may hold all keys: see slab_hash.glsl
)

// sizedFor are the options with room for so many pairs at least.
func (o Options) sizedFor(pairs int) Options {
	o.Capacity = max(o.Capacity, pairs)
	return o
}

// asked is an error of New without a capacity that the options didn't ask for.
func (o Options) asked(err error) error {
	var capacity *structures.CapacityError
	if errors.As(err, &capacity) && capacity.Option == "Capacity" && capacity.Asked != o.Capacity {
		return capacity.Err
	}
	return err
}

func checkBuckets(n int) error {
	if n < minBuckets || n > maxBuckets {
		return &vk.OptionError{Option: "Buckets",
			Reason: fmt.Sprintf("%d is not between %d and %d", n, minBuckets, maxBuckets)}
	}
	return nil
}

func (o *Options) complete(d *vk.Device) error {
	if o.Load == 0 {
		o.Load = DefaultLoad
	}
	if o.MaxLoad == 0 {
		o.MaxLoad = max(DefaultMaxLoad, 1.5*o.Load)
	}
	switch {
	case o.Capacity < 0:
		return &vk.OptionError{Option: "Capacity", Reason: "negative"}
	case !(o.Load >= minLoad && o.Load <= maxLoad):
		return &vk.OptionError{Option: "Load",
			Reason: fmt.Sprintf("%g is not between %g and %g", o.Load, minLoad, maxLoad)}
	case o.MaxLoad > 0 && o.MaxLoad < o.Load:
		return &vk.OptionError{Option: "MaxLoad",
			Reason: fmt.Sprintf("%g is less than Load, %g", o.MaxLoad, o.Load)}
	case o.Tile < 0 || o.Tile > maxTile || o.Tile&(o.Tile-1) != 0:
		return &vk.OptionError{Option: "Tile",
			Reason: fmt.Sprintf("%d is not a power of two up to %d", o.Tile, maxTile)}
	case o.Tile > d.SubgroupSize():
		return &vk.OptionError{Option: "Tile",
			Reason: fmt.Sprintf("%d is more than the %d lanes of a subgroup", o.Tile, d.SubgroupSize())}
	}
	if o.Buckets != 0 {
		return checkBuckets(o.Buckets)
	}
	return nil
}
