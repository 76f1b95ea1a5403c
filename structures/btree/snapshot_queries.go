package btree

import (
	"context"
	"iter"

	"github.com/vkds/vkds/structures"
)

// Find returns the value of each key, 0 if the key is absent, and whether the key is there.
func (s *Snapshot[K, V]) Find(ctx context.Context, keys []K) (values []V, found []bool, err error) {
	return s.queries().Find(ctx, keys)
}

// Get returns the value of one key, and whether the key is there.
func (s *Snapshot[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	return s.queries().Get(ctx, key)
}

// FindInto is Find into the caller's slices. values may be keys itself.
func (s *Snapshot[K, V]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	return s.queries().FindInto(ctx, keys, values, found)
}

// Count returns the number of keys in each range.
func (s *Snapshot[K, V]) Count(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	return s.queries().Count(ctx, ranges)
}

// Range returns the pairs of each range, in key order.
func (s *Snapshot[K, V]) Range(ctx context.Context, ranges []structures.Range[K]) (structures.Ranges[K, V], error) {
	return s.queries().Range(ctx, ranges)
}

// RangeInto is Range into the caller's slices. It makes new slices if those have no room.
func (s *Snapshot[K, V]) RangeInto(ctx context.Context, ranges []structures.Range[K],
	into *structures.Ranges[K, V]) error {
	return s.queries().RangeInto(ctx, ranges, into)
}

// Neighbor finds the neighbor of each key in one direction: structures.Successor, Predecessor, Floor or Ceil.
func (s *Snapshot[K, V]) Neighbor(ctx context.Context, to structures.Direction,
	keys []K) (structures.Neighbors[K, V], error) {
	return s.queries().Neighbor(ctx, to, keys)
}

// Rank returns for each key the number of keys that are less. The key itself need not be there.
func (s *Snapshot[K, V]) Rank(ctx context.Context, keys []K) ([]uint32, error) {
	return s.queries().Rank(ctx, keys)
}

// Select returns the pair of each rank. The least key has rank 0.
func (s *Snapshot[K, V]) Select(ctx context.Context, ranks []uint32) (structures.Neighbors[K, V], error) {
	return s.queries().Select(ctx, ranks)
}

// Ascend returns the pairs of a range in key order. Errors are those of All.
func (s *Snapshot[K, V]) Ascend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return s.queries().Ascend(ctx, r)
}

// Descend returns the pairs of a range, the greatest key first. Errors are those of All.
func (s *Snapshot[K, V]) Descend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return s.queries().Descend(ctx, r)
}

// All returns the pairs in key order. An error ends the iteration: those of Range. Changes of the tree do not end it.
func (s *Snapshot[K, V]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return s.queries().All(ctx)
}

// Chunks is All with many pairs at a time, in slices that are valid until the next ones come.
func (s *Snapshot[K, V]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return s.queries().Chunks(ctx)
}
