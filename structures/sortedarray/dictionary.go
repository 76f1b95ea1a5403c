package sortedarray

import (
	"context"
	"io"
	"iter"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Insert inserts each pair, or assigns to the key that is there: Inserted or Assigned.
func (a *Array[K, V]) Insert(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return a.open().ordered.Insert(ctx, keys, values)
}

// InsertUnique inserts each pair whose key is not there: Inserted or Found.
func (a *Array[K, V]) InsertUnique(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return a.open().ordered.InsertUnique(ctx, keys, values)
}

// InsertAdd inserts each pair, or adds its value to the one that is there, modulo 2^32 or 2^64 by the width of values,
// whatever the width of keys.
func (a *Array[K, V]) InsertAdd(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return a.open().ordered.InsertAdd(ctx, keys, values)
}

// InsertMin is InsertAdd with the lesser of the two values in place of the sum.
func (a *Array[K, V]) InsertMin(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return a.open().ordered.InsertMin(ctx, keys, values)
}

// InsertMax is InsertMin with the greater one.
func (a *Array[K, V]) InsertMax(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return a.open().ordered.InsertMax(ctx, keys, values)
}

// Delete removes each key: Deleted or Absent.
func (a *Array[K, V]) Delete(ctx context.Context, keys []K) ([]structures.Status, error) {
	return a.open().ordered.Delete(ctx, keys)
}

// Find looks each key up: its value (0 if absent) and whether it is there.
func (a *Array[K, V]) Find(ctx context.Context, keys []K) (values []V, found []bool, err error) {
	return a.open().ordered.Find(ctx, keys)
}

// FindInto is Find into the caller's slices.
func (a *Array[K, V]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	return a.open().ordered.FindInto(ctx, keys, values, found)
}

// Apply does a batch of mixed operations.
func (a *Array[K, V]) Apply(ctx context.Context, b structures.Batch[K, V]) (structures.Results[K, V], error) {
	return a.open().ordered.Apply(ctx, b)
}

// ApplyInto is Apply into the caller's slices.
func (a *Array[K, V]) ApplyInto(ctx context.Context, b structures.Batch[K, V], into *structures.Results[K, V]) error {
	return a.open().ordered.ApplyInto(ctx, b, into)
}

// UpdateInto does a batch of updates of one kind, and tells in the caller's slice what has become of each. values are
// those of insertions; of Delete there are none.
func (a *Array[K, V]) UpdateInto(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	return a.open().ordered.UpdateInto(ctx, kind, keys, values, status)
}

// Len returns the number of pairs.
func (a *Array[K, V]) Len(ctx context.Context) (uint64, error) {
	return a.open().ordered.Len(ctx)
}

// Clear removes all pairs.
func (a *Array[K, V]) Clear(ctx context.Context) error {
	return a.open().ordered.Clear(ctx)
}

// All returns the pairs in key order: for pair, err := range d.All(ctx).
func (a *Array[K, V]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return a.open().ordered.All(ctx)
}

// Chunks is All with many pairs at a time.
func (a *Array[K, V]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return a.open().ordered.Chunks(ctx)
}

// Save writes all pairs, and what the structure was laid out for, to w, and returns how many bytes.
func (a *Array[K, V]) Save(ctx context.Context, w io.Writer) (int64, error) {
	return a.open().ordered.Save(ctx, w)
}

// Prepare makes all kernels that calls on the dictionary may need, whatever they do and of whatever size, so that none
// of them makes one: a driver may take seconds for those of the first calls.
func (a *Array[K, V]) Prepare(ctx context.Context) error {
	return a.open().ordered.Prepare(ctx)
}

// Metrics are what the host knows.
func (a *Array[K, V]) Metrics() structures.Metrics {
	return a.open().ordered.Metrics()
}

// Close frees the memory.
func (a *Array[K, V]) Close() error {
	return a.open().ordered.Close()
}

// Count returns how many keys each range has.
func (a *Array[K, V]) Count(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	return a.open().ordered.Count(ctx, ranges)
}

// CountInto is Count into the caller's slice.
func (a *Array[K, V]) CountInto(ctx context.Context, ranges []structures.Range[K], counts []uint32) error {
	return a.open().ordered.CountInto(ctx, ranges, counts)
}

// Range returns the pairs of each range, in key order.
func (a *Array[K, V]) Range(ctx context.Context, ranges []structures.Range[K]) (structures.Ranges[K, V], error) {
	return a.open().ordered.Range(ctx, ranges)
}

// RangeInto is Range into the caller's slices, from their beginning, and into new ones where they have no room.
func (a *Array[K, V]) RangeInto(ctx context.Context, ranges []structures.Range[K],
	into *structures.Ranges[K, V]) error {
	return a.open().ordered.RangeInto(ctx, ranges, into)
}

// Successor finds the least key above each key.
func (a *Array[K, V]) Successor(ctx context.Context, keys []K) (structures.Neighbors[K, V], error) {
	return a.open().ordered.Successor(ctx, keys)
}

// Predecessor finds the greatest key below each key.
func (a *Array[K, V]) Predecessor(ctx context.Context, keys []K) (structures.Neighbors[K, V], error) {
	return a.open().ordered.Predecessor(ctx, keys)
}

// Floor finds the greatest key up to each key, itself included.
func (a *Array[K, V]) Floor(ctx context.Context, keys []K) (structures.Neighbors[K, V], error) {
	return a.open().ordered.Floor(ctx, keys)
}

// Ceil finds the least key from each key on, itself included.
func (a *Array[K, V]) Ceil(ctx context.Context, keys []K) (structures.Neighbors[K, V], error) {
	return a.open().ordered.Ceil(ctx, keys)
}

// NeighborInto is any of these into the caller's slices.
func (a *Array[K, V]) NeighborInto(ctx context.Context, to structures.Direction, keys []K,
	into structures.Neighbors[K, V]) error {
	return a.open().ordered.NeighborInto(ctx, to, keys, into)
}

// Min returns the pair with the least key; found is false where there is none.
func (a *Array[K, V]) Min(ctx context.Context) (key K, value V, found bool, err error) {
	return a.open().ordered.Min(ctx)
}

// Max returns the pair with the greatest key.
func (a *Array[K, V]) Max(ctx context.Context) (key K, value V, found bool, err error) {
	return a.open().ordered.Max(ctx)
}

// Rank returns how many keys are less than each key, which need not be there.
func (a *Array[K, V]) Rank(ctx context.Context, keys []K) ([]uint32, error) {
	return a.open().ordered.Rank(ctx, keys)
}

// RankInto is Rank into the caller's slice, which may be keys itself.
func (a *Array[K, V]) RankInto(ctx context.Context, keys []K, ranks []uint32) error {
	return a.open().ordered.RankInto(ctx, keys, ranks)
}

// Select returns the pair of each rank: of rank 0 is the least key.
func (a *Array[K, V]) Select(ctx context.Context, ranks []uint32) (structures.Neighbors[K, V], error) {
	return a.open().ordered.Select(ctx, ranks)
}

// SelectInto is Select into the caller's slices.
func (a *Array[K, V]) SelectInto(ctx context.Context, ranks []uint32, into structures.Neighbors[K, V]) error {
	return a.open().ordered.SelectInto(ctx, ranks, into)
}

// Ascend returns the pairs of a range in key order: for pair, err := range d.Ascend(ctx, r).
func (a *Array[K, V]) Ascend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return a.open().ordered.Ascend(ctx, r)
}

// Descend is Ascend the other way round, the greatest key first.
func (a *Array[K, V]) Descend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return a.open().ordered.Descend(ctx, r)
}

// FindOn records lookups.
func (a *Array[K, V]) FindOn(stream *vk.Stream, q structures.DeviceLookups) error {
	return a.open().ordered.FindOn(stream, q)
}

// CountOn records the counting of ranges.
func (a *Array[K, V]) CountOn(stream *vk.Stream, r structures.DeviceCounts) error {
	return a.open().ordered.CountOn(stream, r)
}

// RangeOn records the writing of the pairs of ranges.
func (a *Array[K, V]) RangeOn(stream *vk.Stream, r structures.DeviceRanges) error {
	return a.open().ordered.RangeOn(stream, r)
}

// NeighborOn records the search for neighbors.
func (a *Array[K, V]) NeighborOn(stream *vk.Stream, to structures.Direction, n structures.DeviceNeighbors) error {
	return a.open().ordered.NeighborOn(stream, to, n)
}

// FinishNeighbors waits for the stream, and carries on the searches that NeighborOn has left pending, until n.Left is
// 0.
func (a *Array[K, V]) FinishNeighbors(ctx context.Context, stream *vk.Stream,
	to structures.Direction, n structures.DeviceNeighbors) error {
	return a.open().ordered.FinishNeighbors(ctx, stream, to, n)
}

// RankOn records the counting of the keys that are less than each key.
func (a *Array[K, V]) RankOn(stream *vk.Stream, r structures.DeviceRanks) error {
	return a.open().ordered.RankOn(stream, r)
}

// SelectOn records the search for the pairs of ranks, which n.Keys has.
func (a *Array[K, V]) SelectOn(stream *vk.Stream, n structures.DeviceNeighbors) error {
	return a.open().ordered.SelectOn(stream, n)
}

// ExportOn records the writing of all pairs in key order.
func (a *Array[K, V]) ExportOn(stream *vk.Stream, e structures.DeviceExport) error {
	return a.open().ordered.ExportOn(stream, e)
}

// DeleteRange removes the keys of each range, one range after the other, and returns how many each has removed: of
// ranges that overlap, the first takes what they share.
func (a *Array[K, V]) DeleteRange(ctx context.Context, ranges []structures.Range[K]) (counts []uint32, err error) {
	return a.open().ordered.DeleteRange(ctx, ranges)
}

// WriteTo is Save without a context: io.WriterTo.
func (a *Array[K, V]) WriteTo(w io.Writer) (int64, error) {
	return a.open().ordered.WriteTo(w)
}
