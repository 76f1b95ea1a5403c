package shard

import (
	"context"
	"io"
	"iter"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// Snapshot is the content of a tree at one time, in all shards at one moment. It does not change while it is open,
// whatever updates do to the tree, and Rebalance may move pairs meanwhile. It is safe for many goroutines. After Close
// its methods return vk.ErrClosed.
type Snapshot[K, V structures.Number] struct {
	r    *reader[K, V]
	open []*btree.Snapshot[K, V]
}

var _ structures.Queries[uint32, uint64] = (*Snapshot[uint32, uint64])(nil)

// Snapshot opens a snapshot of the tree's present content. All shards must be btree.Tree. It waits for the call that
// changes the tree, if there is one, and takes well below a microsecond for each shard.
//
// Errors: *vk.OptionError if a shard has no snapshots, those of btree's Snapshot, the context's.
func (t *Tree[K, V]) Snapshot(ctx context.Context) (*Snapshot[K, V], error) {
	x := t.open()
	ctx, leave, err := x.whole(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	s := &Snapshot[K, V]{r: &reader[K, V]{core: newCore(x.place)}}
	for i, shard := range x.trees {
		if err := s.add(ctx, i, shard); err != nil {
			_ = s.Close()
			return nil, err
		}
	}
	return s, nil
}

// add takes the snapshot of a shard.
func (s *Snapshot[K, V]) add(ctx context.Context, i int, shard structures.Ordered[K, V]) error {
	versioned, is := shard.(interface {
		Snapshot(ctx context.Context) (*btree.Snapshot[K, V], error)
	})
	if !is {
		return &vk.OptionError{Option: "shards", Reason: "only btree.Tree has snapshots"}
	}
	at, err := versioned.Snapshot(ctx)
	if err != nil {
		return wrapped(ctx, i, err)
	}
	s.open, s.r.reads, s.r.asks = append(s.open, at), append(s.r.reads, at), append(s.r.asks, at)
	return nil
}

// reader returns the snapshot's queries, or those of one that is not open.
func (s *Snapshot[K, V]) reader() *reader[K, V] {
	if s == nil {
		s = &Snapshot[K, V]{}
	}
	return s.r.opened()
}

// Find returns the value of each key, 0 if the key is absent, and whether the key is there.
func (s *Snapshot[K, V]) Find(ctx context.Context, keys []K) (values []V, found []bool, err error) {
	return s.reader().find(ctx, keys)
}

// Get returns the value of one key, and whether the key is there.
func (s *Snapshot[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	return s.reader().get(ctx, key)
}

// FindInto is Find into the caller's slices, either of which may be nil.
func (s *Snapshot[K, V]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	return s.reader().findInto(ctx, keys, values, found)
}

// Count returns the number of keys in each range.
func (s *Snapshot[K, V]) Count(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	return s.reader().count(ctx, ranges)
}

// Range returns the pairs of each range, in key order.
func (s *Snapshot[K, V]) Range(ctx context.Context, ranges []structures.Range[K]) (structures.Ranges[K, V], error) {
	r := new(structures.Ranges[K, V])
	err := s.reader().rangeInto(ctx, ranges, r)
	return *r, err
}

// RangeInto is Range into the caller's slices. It makes new slices if those have no room.
func (s *Snapshot[K, V]) RangeInto(ctx context.Context, ranges []structures.Range[K],
	into *structures.Ranges[K, V]) error {
	return s.reader().rangeInto(ctx, ranges, into)
}

// Neighbor finds the neighbor of each key in one direction. Further error: *vk.OptionError.
func (s *Snapshot[K, V]) Neighbor(ctx context.Context, to structures.Direction,
	keys []K) (structures.Neighbors[K, V], error) {
	return s.reader().neighbor(ctx, to, keys)
}

// Rank returns for each key the number of keys that are less.
func (s *Snapshot[K, V]) Rank(ctx context.Context, keys []K) ([]uint32, error) {
	return s.reader().rank(ctx, keys)
}

// Select returns the pair of each rank.
func (s *Snapshot[K, V]) Select(ctx context.Context, ranks []uint32) (structures.Neighbors[K, V], error) {
	return s.reader().selected(ctx, ranks)
}

// Ascend returns the pairs of a range in key order.
func (s *Snapshot[K, V]) Ascend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return s.reader().ascend(ctx, r, false)
}

// Descend is Ascend from the greatest key to the least.
func (s *Snapshot[K, V]) Descend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return s.reader().ascend(ctx, r, true)
}

// All returns the pairs, in key order.
func (s *Snapshot[K, V]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return s.reader().pairs(ctx)
}

// Chunks is All with many pairs at a time, in slices that are valid until the next ones come.
func (s *Snapshot[K, V]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return s.reader().chunks(ctx)
}

// Len returns the number of pairs.
func (s *Snapshot[K, V]) Len(ctx context.Context) (uint64, error) {
	return s.reader().len(ctx)
}

// Save writes all pairs to w, as Tree.Save does, while updates go on.
func (s *Snapshot[K, V]) Save(ctx context.Context, w io.Writer) (int64, error) {
	return s.reader().save(ctx, w, "btree")
}

// Close ends the snapshot. Further calls do nothing. It returns nil.
func (s *Snapshot[K, V]) Close() error {
	return s.reader().gate.Close(func() error {
		for _, at := range s.open {
			_ = at.Close() // returns nil
		}
		s.r.gate.End()
		return nil
	})
}
