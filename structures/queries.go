package structures

import (
	"context"
	"iter"

	"github.com/vkds/vkds/vk"
)

// Queries are what is asked of dictionaries that keep their pairs in key order. Such a structure embeds them: they are
// its own methods. Errors of all: vk.ErrClosed, *vk.OutOfMemoryError, the context's, of the forms into the caller's
// slices *LengthError; but for those that look keys up, also *StuckError where memory is as only a stray write can
// leave it.
type Queries[K, V Number] interface {
	// Find returns the value of each key, 0 where it is absent, and whether it is there.
	Find(ctx context.Context, keys []K) (values []V, found []bool, err error)
	// FindInto is Find into the caller's slices. values may be keys itself.
	FindInto(ctx context.Context, keys []K, values []V, found []bool) error

	// Count returns how many keys each range has.
	Count(ctx context.Context, ranges []Range[K]) ([]uint32, error)
	// CountInto is Count into the caller's slice.
	CountInto(ctx context.Context, ranges []Range[K], counts []uint32) error
	// Range returns the pairs of each range, in key order.
	Range(ctx context.Context, ranges []Range[K]) (Ranges[K, V], error)
	// RangeInto is Range into the caller's slices, from their beginning, and into new ones where they have no room.
	RangeInto(ctx context.Context, ranges []Range[K], into *Ranges[K, V]) error

	// Successor finds the least key above each key.
	Successor(ctx context.Context, keys []K) (Neighbors[K, V], error)
	// Predecessor finds the greatest key below each key.
	Predecessor(ctx context.Context, keys []K) (Neighbors[K, V], error)
	// Floor finds the greatest key up to each key, itself included.
	Floor(ctx context.Context, keys []K) (Neighbors[K, V], error)
	// Ceil finds the least key from each key on, itself included.
	Ceil(ctx context.Context, keys []K) (Neighbors[K, V], error)
	// NeighborInto is any of these into the caller's slices. Those of the results may be keys itself. Error also:
	// *DirectionError.
	NeighborInto(ctx context.Context, to Direction, keys []K, into Neighbors[K, V]) error
	// Min returns the pair with the least key; found is false where there is none.
	Min(ctx context.Context) (key K, value V, found bool, err error)
	// Max returns the pair with the greatest key.
	Max(ctx context.Context) (key K, value V, found bool, err error)
	// Rank returns how many keys are less than each key, which need not be there. A tree counts its leaves for each
	// batch, an LSM looks which of its pairs are valid.
	Rank(ctx context.Context, keys []K) ([]uint32, error)
	// RankInto is Rank into the caller's slice, which may be keys itself.
	RankInto(ctx context.Context, keys []K, ranks []uint32) error
	// Select returns the pair of each rank: of rank 0 is the least key. Ranks from Len on have none.
	Select(ctx context.Context, ranks []uint32) (Neighbors[K, V], error)
	// SelectInto is Select into the caller's slices. Those of the results may be ranks itself.
	SelectInto(ctx context.Context, ranks []uint32, into Neighbors[K, V]) error
	// Ascend returns the pairs of a range in key order: for pair, err := range d.Ascend(ctx, r). It reads them part by
	// part. If the device fails, ctx ends or the pairs were changed (ErrChanged), the error comes last, with no pair.
	Ascend(ctx context.Context, r Range[K]) iter.Seq2[Pair[K, V], error]
	// Descend is Ascend the other way round, the greatest key first.
	Descend(ctx context.Context, r Range[K]) iter.Seq2[Pair[K, V], error]
	// All is Ascend over AllKeys.
	All(ctx context.Context) iter.Seq2[Pair[K, V], error]
	// Chunks is All with many pairs at a time. The slices are valid until the next ones come.
	Chunks(ctx context.Context) iter.Seq2[Pairs[K, V], error]

	QueriesOnStream
}

// QueriesOnStream are the queries that are recorded on a stream and don't wait. Nothing may change the structure until
// they are done, and each stream keeps temporary memory of the structure's. Errors: vk.ErrClosed, *LengthError for
// buffers that are too short, *vk.ForeignError, *vk.OutOfMemoryError, what making a kernel may return.
type QueriesOnStream interface {
	// FindOn records lookups.
	FindOn(s *vk.Stream, l DeviceLookups) error
	// CountOn records the counting of ranges.
	CountOn(s *vk.Stream, r DeviceCounts) error
	// RangeOn records the writing of the pairs of ranges.
	RangeOn(s *vk.Stream, r DeviceRanges) error
	// NeighborOn records the search for neighbors. Error also: *DirectionError.
	NeighborOn(s *vk.Stream, to Direction, n DeviceNeighbors) error
	// FinishNeighbors waits for the stream, and carries on the searches that NeighborOn has left pending, until n.Left
	// is 0. Error: *PendingError.
	FinishNeighbors(ctx context.Context, s *vk.Stream, to Direction, n DeviceNeighbors) error
	// RankOn records the counting of the keys that are less than each key.
	RankOn(s *vk.Stream, r DeviceRanks) error
	// SelectOn records the search for the pairs of ranks, which n.Keys has. Left may be nil: none is left pending.
	SelectOn(s *vk.Stream, n DeviceNeighbors) error
	// ExportOn records the writing of all pairs in key order.
	ExportOn(s *vk.Stream, e DeviceExport) error
}
