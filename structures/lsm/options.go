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
	// MaxBytes is the most memory that the LSM may keep: its levels, and what merging them takes. 0: as much as there
	// is. If an update needs more, it returns *structures.LimitError. Package structures says which memory of calls
	// comes on top. A cleanup takes two copies of all pairs on top, so that an LSM at its limit can be cleaned up.
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

// tooMany says that an LSM can't have so many pairs.
func tooMany(pairs uint64) error {
	return &structures.LimitError{What: "pairs of an LSM, stale ones among them", Want: pairs, Most: MaxPairs}
}

// tooLarge says that an LSM may not take so much memory.
func tooLarge(bytes, limit uint64) error {
	return &structures.LimitError{What: "bytes of an LSM", Want: bytes, Most: limit, Option: "MaxBytes"}
}

func (o *Options) complete() error {
	if o.Batch == 0 {
		o.Batch = DefaultBatch
	}
	switch {
	case o.Batch < minBatch || o.Batch > MaxPairs/2 || bits.OnesCount(uint(o.Batch)) != 1:
		return &structures.OptionError{Option: "Batch",
			Reason: fmt.Sprintf("%d, but it is a power of two from %d to %d", o.Batch, minBatch, MaxPairs/2)}
	case o.Capacity < 0 || o.Capacity > MaxPairs:
		return &structures.OptionError{Option: "Capacity",
			Reason: fmt.Sprintf("%d, but there are 0 to %d pairs", o.Capacity, MaxPairs)}
	case !(o.Cleanup.stale >= 0 && o.Cleanup.stale < 1):
		return &structures.OptionError{Option: "Cleanup",
			Reason: fmt.Sprintf("a stale share of %g, but it is from 0 to below 1", o.Cleanup.stale)}
	}
	return nil
}
