package btree

import (
	"context"
	"iter"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Find returns the value of each key, 0 where it is absent, and whether it is there.
func (s *Snapshot[K, V]) Find(ctx context.Context, keys []K) (values []V, found []bool, err error) {
	return s.queries().Find(ctx, keys)
}

// FindInto is Find into the caller's slices. values may be keys itself.
func (s *Snapshot[K, V]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	return s.queries().FindInto(ctx, keys, values, found)
}

// Count returns how many keys each range has.
func (s *Snapshot[K, V]) Count(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	return s.queries().Count(ctx, ranges)
}

// CountInto is Count into the caller's slice.
func (s *Snapshot[K, V]) CountInto(ctx context.Context, ranges []structures.Range[K], counts []uint32) error {
	return s.queries().CountInto(ctx, ranges, counts)
}

// Range returns the pairs of each range, in key order.
func (s *Snapshot[K, V]) Range(ctx context.Context, ranges []structures.Range[K]) (structures.Ranges[K, V], error) {
	return s.queries().Range(ctx, ranges)
}

// RangeInto is Range into the caller's slices, from their beginning, and into new ones where they have no room.
func (s *Snapshot[K, V]) RangeInto(ctx context.Context, ranges []structures.Range[K],
	into *structures.Ranges[K, V]) error {
	return s.queries().RangeInto(ctx, ranges, into)
}

// Successor finds the least key above each key.
func (s *Snapshot[K, V]) Successor(ctx context.Context, keys []K) (structures.Neighbors[K, V], error) {
	return s.queries().Successor(ctx, keys)
}

// Predecessor finds the greatest key below each key.
func (s *Snapshot[K, V]) Predecessor(ctx context.Context, keys []K) (structures.Neighbors[K, V], error) {
	return s.queries().Predecessor(ctx, keys)
}

// Floor finds the greatest key up to each key, itself included.
func (s *Snapshot[K, V]) Floor(ctx context.Context, keys []K) (structures.Neighbors[K, V], error) {
	return s.queries().Floor(ctx, keys)
}

// Ceil finds the least key from each key on, itself included.
func (s *Snapshot[K, V]) Ceil(ctx context.Context, keys []K) (structures.Neighbors[K, V], error) {
	return s.queries().Ceil(ctx, keys)
}

// NeighborInto is any of these into the caller's slices.
func (s *Snapshot[K, V]) NeighborInto(ctx context.Context, to structures.Direction, keys []K,
	into structures.Neighbors[K, V]) error {
	return s.queries().NeighborInto(ctx, to, keys, into)
}

// Min returns the pair with the least key; found is false where there is none.
func (s *Snapshot[K, V]) Min(ctx context.Context) (key K, value V, found bool, err error) {
	return s.queries().Min(ctx)
}

// Max returns the pair with the greatest key.
func (s *Snapshot[K, V]) Max(ctx context.Context) (key K, value V, found bool, err error) {
	return s.queries().Max(ctx)
}

// Rank returns how many keys are less than each key, which need not be there.
func (s *Snapshot[K, V]) Rank(ctx context.Context, keys []K) ([]uint32, error) {
	return s.queries().Rank(ctx, keys)
}

// RankInto is Rank into the caller's slice, which may be keys itself.
func (s *Snapshot[K, V]) RankInto(ctx context.Context, keys []K, ranks []uint32) error {
	return s.queries().RankInto(ctx, keys, ranks)
}

// Select returns the pair of each rank: of rank 0 is the least key.
func (s *Snapshot[K, V]) Select(ctx context.Context, ranks []uint32) (structures.Neighbors[K, V], error) {
	return s.queries().Select(ctx, ranks)
}

// SelectInto is Select into the caller's slices.
func (s *Snapshot[K, V]) SelectInto(ctx context.Context, ranks []uint32, into structures.Neighbors[K, V]) error {
	return s.queries().SelectInto(ctx, ranks, into)
}

// Ascend returns the pairs of a range in key order: for pair, err := range d.Ascend(ctx, r).
func (s *Snapshot[K, V]) Ascend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return s.queries().Ascend(ctx, r)
}

// Descend is Ascend the other way round, the greatest key first.
func (s *Snapshot[K, V]) Descend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return s.queries().Descend(ctx, r)
}

// All is Ascend over AllKeys.
func (s *Snapshot[K, V]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return s.queries().All(ctx)
}

// Chunks is All with many pairs at a time.
func (s *Snapshot[K, V]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return s.queries().Chunks(ctx)
}

// FindOn records lookups.
func (s *Snapshot[K, V]) FindOn(stream *vk.Stream, q structures.DeviceLookups) error {
	return s.queries().FindOn(stream, q)
}

// CountOn records the counting of ranges.
func (s *Snapshot[K, V]) CountOn(stream *vk.Stream, r structures.DeviceCounts) error {
	return s.queries().CountOn(stream, r)
}

// RangeOn records the writing of the pairs of ranges.
func (s *Snapshot[K, V]) RangeOn(stream *vk.Stream, r structures.DeviceRanges) error {
	return s.queries().RangeOn(stream, r)
}

// NeighborOn records the search for neighbors.
func (s *Snapshot[K, V]) NeighborOn(stream *vk.Stream, to structures.Direction, n structures.DeviceNeighbors) error {
	return s.queries().NeighborOn(stream, to, n)
}

// FinishNeighbors waits for the stream, and carries on the searches that NeighborOn has left pending, until n.Left is
// 0.
func (s *Snapshot[K, V]) FinishNeighbors(ctx context.Context, stream *vk.Stream,
	to structures.Direction, n structures.DeviceNeighbors) error {
	return s.queries().FinishNeighbors(ctx, stream, to, n)
}

// RankOn records the counting of the keys that are less than each key.
func (s *Snapshot[K, V]) RankOn(stream *vk.Stream, r structures.DeviceRanks) error {
	return s.queries().RankOn(stream, r)
}

// SelectOn records the search for the pairs of ranks, which n.Keys has.
func (s *Snapshot[K, V]) SelectOn(stream *vk.Stream, n structures.DeviceNeighbors) error {
	return s.queries().SelectOn(stream, n)
}

// ExportOn records the writing of all pairs in key order.
func (s *Snapshot[K, V]) ExportOn(stream *vk.Stream, e structures.DeviceExport) error {
	return s.queries().ExportOn(stream, e)
}
