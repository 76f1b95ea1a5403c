package structures

import (
	"context"
	"iter"
)

// Queries is implemented by dictionaries that keep their pairs in key order.
//
// Errors of all methods: vk.ErrClosed, *vk.OutOfMemoryError, the context's, and *LengthError from the Into forms. All
// methods except Find and FindInto also return *StuckError if a stray write has damaged the structure.
type Queries[K, V Number] interface {
	// Find returns the value of each key, 0 if the key is absent, and whether the key is there.
	Find(ctx context.Context, keys []K) (values []V, found []bool, err error)
	// Get is Find of one key.
	Get(ctx context.Context, key K) (value V, found bool, err error)
	// FindInto is Find into the caller's slices. values may be keys itself.
	FindInto(ctx context.Context, keys []K, values []V, found []bool) error

	// Count returns the number of keys in each range.
	Count(ctx context.Context, ranges []Range[K]) ([]uint32, error)
	// Range returns the pairs of each range, in key order.
	Range(ctx context.Context, ranges []Range[K]) (Ranges[K, V], error)
	// RangeInto is Range into the caller's slices. It makes new slices if those have no room.
	RangeInto(ctx context.Context, ranges []Range[K], into *Ranges[K, V]) error

	// Neighbor finds the neighbor of each key in one direction: Successor, Predecessor, Floor or Ceil. Further error:
	// *vk.OptionError.
	Neighbor(ctx context.Context, to Direction, keys []K) (Neighbors[K, V], error)
	// Rank returns for each key the number of keys that are less. The key itself need not be there. For each batch, a
	// tree counts its leaves, and an LSM finds which of its pairs are valid.
	Rank(ctx context.Context, keys []K) ([]uint32, error)
	// Select returns the pair of each rank. The least key has rank 0. Ranks from Len on have no pair.
	Select(ctx context.Context, ranks []uint32) (Neighbors[K, V], error)
	// Ascend returns the pairs of a range in key order: for pair, err := range d.Ascend(ctx, r). It reads them in
	// parts. An error ends the iteration and comes without a pair: ErrChanged if the pairs changed in between, the
	// context's, or one of the device.
	Ascend(ctx context.Context, r Range[K]) iter.Seq2[Pair[K, V], error]
	// Descend returns the pairs of a range, the greatest key first. Otherwise it is like Ascend. The first pairs of
	// Ascend and Descend over AllKeys have the least key and the greatest.
	Descend(ctx context.Context, r Range[K]) iter.Seq2[Pair[K, V], error]
	// All is Ascend over AllKeys.
	All(ctx context.Context) iter.Seq2[Pair[K, V], error]
	// Chunks is All with many pairs at a time. The slices are valid until the next ones come.
	Chunks(ctx context.Context) iter.Seq2[Pairs[K, V], error]
}

// QueriesOnStream has the queries that are recorded on a stream and do not wait. The structure must not change until
// they are done. For each stream, the structure keeps temporary memory.
//
// Errors of all methods: vk.ErrClosed, *LengthError if a buffer is too short, *vk.ForeignError, *vk.OutOfMemoryError,
// and those of making a kernel.
type QueriesOnStream interface {
	// Find records lookups.
	Find(l DeviceLookups) error
	// Count records the counting of the keys in ranges.
	Count(r DeviceCounts) error
	// Range records the writing of the pairs of ranges.
	Range(r DeviceRanges) error
	// Neighbor records the search for neighbors in one direction. Further error: *vk.OptionError.
	Neighbor(to Direction, n DeviceNeighbors) error
	// FinishNeighbors waits for the stream, and completes the searches that Neighbor left pending, until n.Left is 0.
	// Further error: *PendingError.
	FinishNeighbors(ctx context.Context, to Direction, n DeviceNeighbors) error
	// Rank records the search for ranks: for each key, how many keys are less.
	Rank(r DeviceRanks) error
	// Select records the search for the pairs of the ranks in n.Keys. It leaves nothing pending, so Left may be nil.
	Select(n DeviceNeighbors) error
	// Export records the writing of all pairs in key order.
	Export(e DeviceExport) error
}
