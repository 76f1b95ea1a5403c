package slabhash

import (
	"errors"
	"fmt"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Options are the options of a table. The zero value makes a small table that grows when it must.
type Options struct {
	// Capacity is the number of pairs (of a set: keys) for which the table gets buckets, at the load Load. More may be
	// inserted.
	Capacity int
	// Buckets, if not 0, is the number of buckets at first, at least 4. Where buckets share slabs it is rounded up to a
	// multiple of 16, at least 64. Capacity is then ignored.
	Buckets int
	// Load is the number of pairs for each slot of the base slabs, β of section III-C of the paper, for which a table
	// is laid out. A slab has 15 slots for pairs of 32 bits, 7 of 64 bits, and in a set 30 and 15 for keys. A small
	// load is fast; around 0.7 most buckets have one slab. From 0.75 to 1.25 buckets share slabs, so that nearly all
	// slots are in use: at 1, 95% of them. For a small table take 1: loads right above 1.25 take more memory again.
	// Sharing is for unique keys: many values of a key slow searches in the 15 other buckets of its group. 0.01 to 100;
	// 0: DefaultLoad.
	Load float64
	// MaxLoad is the load, erased slots included, above which an insertion from Go slices first rehashes the table to
	// Load, or flushes it. 0: DefaultMaxLoad, or 1.5 times Load if that is more, or where buckets share slabs 1.1, or
	// 1.1 times Load if that is more; negative: never.
	MaxLoad float64
	// Pool is the pool of all slabs but the base slabs. nil: the table has its own pool. Structures that share a pool
	// wait for each other's changes, and the pool grows after the work on all of them has ended.
	Pool *alloc.SlabPool
	// MaxBytes is the greatest amount of memory that the table may keep: its buckets, its own pool, and both copies of
	// either while it grows, so with Capacity set it holds more. 0: no limit. An update that needs more returns a
	// *structures.PendingError around a *vk.LimitError, and has done what fitted. Package structures says which memory
	// calls use in addition.
	MaxBytes uint64
	// Seed varies the hash function.
	Seed uint32
	// Tile is the number of lanes that work on one slab together, in every kernel: a power of two, at most 8 and the
	// subgroup size. 0: for each kernel, the number that measured best on this type of device.
	Tile int
	// Timed makes the device time the kernels of Flush, Rehash and Clear, for Timings.
	Timed bool
	// Progress, if not nil, is called with the progress of long calls.
	Progress structures.Progress
}

const (
	DefaultLoad    = 0.7
	DefaultMaxLoad = 1.2

	minLoad = 0.01  // at less, almost all memory would be empty
	maxLoad = 100.0 // at more, lists would be too long

	minBuckets = 4 // so that no bucket may have all keys: see slab_hash.glsl
)

// sizedFor returns the options with room for at least that many pairs.
func (o Options) sizedFor(pairs int) Options {
	o.Capacity = max(o.Capacity, pairs)
	return o
}

// asked returns an error of New, without the CapacityError if its capacity is not that of the options.
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
		if o.shared() { // beyond that, many pairs are in chains that 16 buckets share
			o.MaxLoad = 1.1 * max(1, o.Load)
		}
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
