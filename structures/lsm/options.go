package lsm

import (
	"fmt"
	"math/bits"

	"github.com/vkds/vkds/structures"
)

// Options say how an LSM is made. The zero value makes one that grows as it must and is never cleaned up by itself.
type Options struct {
	// Batch is b of the paper: the pairs of the lowest level, a power of two from 32 on. Batches of this size are
	// inserted fastest. Small ones make for many levels, which lookups go through one after the other; large ones for
	// more work at a batch that is smaller. 0: DefaultBatch.
	Batch int
	// Capacity is how many pairs there is room for at first, stale ones among them, so that so many need no further
	// allocation. 0: none are known of.
	Capacity int
	// MaxBytes is the most device memory that the levels and what merging them takes may have; 0: as much as there is.
	MaxBytes uint64
	// Cleanup says when insertions and deletions first clean up. The zero value is Never.
	Cleanup Policy
	// Timed has the stages of Build and Cleanup timed by the device, for Timings.
	Timed bool
	// Progress, if not nil, is told how long calls get on.
	Progress structures.Progress
}

// DefaultBatch is Options.Batch where that is 0.
const DefaultBatch = 1 << 18

// MaxPairs is the most pairs that an LSM may hold, stale ones and tombstones among them.
const MaxPairs = 1 << 30

const minBatch = 32 // so that levels begin at whole words of the bitmaps, and at whole nodes of the index

// Policy says when an LSM cleans up by itself: before an insertion or a deletion from Go slices, and when Maintain is
// called. The zero value is Never. A cleanup for which there is no memory is left out.
type Policy struct {
	doubled bool
	stale   float64
}

var (
	// Never leaves cleaning up to the caller.
	Never = Policy{}
	// WhenDoubled cleans up when there are twice as many pairs as after the last cleanup, and two batches at least: in
	// the long run that costs no more than the insertions do (section III-F).
	WhenDoubled = Policy{doubled: true}
)

// WhenStale cleans up when more than a share of all pairs, between 0 and 1, is stale or tombstones. How many are is
// known as long as all updates come from Go slices; after others, and after Build from the device, they are counted
// (see LSM.Len) when it is next looked at.
func WhenStale(share float64) Policy { return Policy{stale: share} }

// OptionError says which option can't be.
type OptionError struct{ Option, Reason string }

func (e *OptionError) Error() string { return fmt.Sprintf("lsm: option %s: %s", e.Option, e.Reason) }

// FullError says that a batch would bring an LSM beyond MaxPairs, or its memory beyond Options.MaxBytes. Nothing of the
// batch was done then. A cleanup may help.
type FullError struct {
	Pairs    uint64 // with the batch
	Bytes    uint64 // that it would have taken
	MaxBytes uint64 // 0: it is the number of pairs
}

func (e *FullError) Error() string {
	if e.MaxBytes == 0 {
		return fmt.Sprintf("lsm: %d pairs with this batch, but there may be %d: clean up", e.Pairs, MaxPairs)
	}
	return fmt.Sprintf("lsm: %d bytes with this batch, but option MaxBytes is %d: clean up", e.Bytes, e.MaxBytes)
}

// NoRoom marks it as an error of room.
func (e *FullError) NoRoom() {}

func (o *Options) complete() error {
	if o.Batch == 0 {
		o.Batch = DefaultBatch
	}
	switch {
	case o.Batch < minBatch || o.Batch > MaxPairs/2 || bits.OnesCount(uint(o.Batch)) != 1:
		return &OptionError{"Batch", fmt.Sprintf("%d, but it is a power of two from %d to %d", o.Batch, minBatch, MaxPairs/2)}
	case o.Capacity < 0 || o.Capacity > MaxPairs:
		return &OptionError{"Capacity", fmt.Sprintf("%d, but there are 0 to %d pairs", o.Capacity, MaxPairs)}
	case !(o.Cleanup.stale >= 0 && o.Cleanup.stale < 1):
		return &OptionError{"Cleanup", fmt.Sprintf("a stale share of %g, but it is from 0 to below 1", o.Cleanup.stale)}
	}
	return nil
}
