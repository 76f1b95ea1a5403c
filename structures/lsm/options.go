package lsm

import (
	"fmt"
	"math/bits"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Options configure an LSM. The zero value makes one that grows as needed and never cleans up by itself.
type Options struct {
	// Batch is b of the paper: the number of pairs of the lowest level, a power of two of at least 32. Batches of this
	// size are inserted fastest. A small Batch makes many levels, which each lookup searches one after the other. A
	// large Batch makes smaller batches more expensive. 0: DefaultBatch.
	Batch int
	// Capacity is the number of pairs, including stale ones, for which memory is allocated at first. 0: none.
	Capacity int
	// MaxBytes is the greatest amount of memory that the LSM may keep: its levels, and the memory to merge them. 0: no
	// limit. An update that needs more returns a *structures.PendingError around a *vk.LimitError. Package structures
	// says which memory calls use in addition. A cleanup may take two more copies of all pairs, so that an LSM at its
	// limit can be cleaned up.
	MaxBytes uint64
	// Cleanup says when insertions and deletions clean up first. The zero value is Never.
	Cleanup Policy
	// Timed makes the device time the stages of Build and Cleanup, for Timings.
	Timed bool
	// Progress, if not nil, is called with the progress of long calls.
	Progress structures.Progress
}

// DefaultBatch is used if Options.Batch is 0.
const DefaultBatch = 1 << 18

// MaxPairs is the greatest number of pairs of an LSM, including stale ones and tombstones.
const MaxPairs = 1 << 30

const minBatch = 32 // so that levels begin at whole words of the bitmaps and whole nodes of the index

// Policy says when an LSM cleans up by itself: before an update from Go slices, and in Maintain. The zero value is
// Never. If there is no memory for a cleanup, it does not clean up.
type Policy struct {
	doubled bool
	stale   float64
}

var (
	// Never leaves cleanups to the caller.
	Never = Policy{}
	// WhenDoubled cleans up when there are twice as many pairs as after the last cleanup, and at least two batches. On
	// average, this costs no more than the insertions (section III-F).
	WhenDoubled = Policy{doubled: true}
)

// WhenStale cleans up when more than a share of all pairs, from 0 to below 1, is stale or a tombstone. The host knows
// the share if all updates come from Go slices with statuses. Otherwise the device counts before an update (see
// LSM.Len).
func WhenStale(share float64) Policy { return Policy{stale: share} }

// tooMany returns the error for more pairs than an LSM may have.
func tooMany(pairs uint64) error {
	return &vk.LimitError{What: "pairs of an LSM, stale ones included", Want: pairs, Most: MaxPairs}
}

// tooLarge returns the error for more memory than an LSM may take.
func tooLarge(bytes, limit uint64) error {
	return &vk.LimitError{What: "bytes of an LSM", Want: bytes, Most: limit, Option: "MaxBytes"}
}

func (o *Options) complete() error {
	if o.Batch == 0 {
		o.Batch = DefaultBatch
	}
	switch {
	case o.Batch < minBatch || o.Batch > MaxPairs/2 || bits.OnesCount(uint(o.Batch)) != 1:
		return &vk.OptionError{Option: "Batch",
			Reason: fmt.Sprintf("%d is not a power of two from %d to %d", o.Batch, minBatch, MaxPairs/2)}
	case o.Capacity < 0 || o.Capacity > MaxPairs:
		return &vk.OptionError{Option: "Capacity",
			Reason: fmt.Sprintf("%d is not between 0 and %d", o.Capacity, MaxPairs)}
	case !(o.Cleanup.stale >= 0 && o.Cleanup.stale < 1):
		return &vk.OptionError{Option: "Cleanup",
			Reason: fmt.Sprintf("a stale share of %g is not from 0 to below 1", o.Cleanup.stale)}
	}
	return nil
}
