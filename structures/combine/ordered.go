package combine

import (
	"context"
	"iter"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Ordered is a structures.Ordered that combines the calls of many goroutines: a Dictionary whose Count, Range,
// RangeInto, Neighbor, Floor, Ceil, Rank and Select are combined as well. DeleteRange and iterators are passed on.
type Ordered[K, V structures.Number] struct{ all Dictionary[K, V] }

// NewOrdered is New for an ordered dictionary.
func NewOrdered[K, V structures.Number](d structures.Ordered[K, V], o Options) (*Ordered[K, V], error) {
	if d == nil {
		return nil, vk.ErrNotOpen
	}
	c, err := newCore(d, d, o)
	if err != nil {
		return nil, err
	}
	return &Ordered[K, V]{Dictionary[K, V]{c}}, nil
}

// dictionary returns nil if o is nil.
func (o *Ordered[K, V]) dictionary() *Dictionary[K, V] {
	if o == nil {
		return nil
	}
	return &o.all
}

// open returns the core, or vk.ErrNotOpen if o is nil or a zero value.
func (o *Ordered[K, V]) open() (*core[K, V], error) { return o.dictionary().open() }

// Count returns the number of keys in each range.
func (o *Ordered[K, V]) Count(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	c, err := o.open()
	if err != nil {
		return nil, err
	}
	x := c.call()
	x.kind, x.ranges = count, ranges
	return c.numbers(ctx, x)
}

// Range returns the pairs of each range, in key order.
func (o *Ordered[K, V]) Range(ctx context.Context, ranges []structures.Range[K]) (structures.Ranges[K, V], error) {
	var all structures.Ranges[K, V]
	err := o.RangeInto(ctx, ranges, &all)
	return all, err
}

// RangeInto is Range into the slices of into, or into new ones if those have no room.
func (o *Ordered[K, V]) RangeInto(ctx context.Context, ranges []structures.Range[K],
	into *structures.Ranges[K, V]) error {
	c, err := o.open()
	if err != nil {
		return err
	}
	if into == nil {
		return c.ordered.RangeInto(ctx, ranges, into)
	}
	x := c.call()
	x.kind, x.ranges, x.into = list, ranges, into
	return c.many(ctx, x)
}

// Neighbor finds the neighbor of each key in one direction.
func (o *Ordered[K, V]) Neighbor(ctx context.Context, to structures.Direction,
	keys []K) (structures.Neighbors[K, V], error) {
	c, err := o.open()
	if err != nil {
		return structures.Neighbors[K, V]{}, err
	}
	if to > structures.Ceil {
		return c.ordered.Neighbor(ctx, to, keys)
	}
	x := c.call()
	x.kind, x.keys = kind(to), keys
	return c.neighbors(ctx, x)
}

// Rank returns for each key the number of keys that are less.
func (o *Ordered[K, V]) Rank(ctx context.Context, keys []K) ([]uint32, error) {
	c, err := o.open()
	if err != nil {
		return nil, err
	}
	x := c.call()
	x.kind, x.keys = rank, keys
	return c.numbers(ctx, x)
}

// Select returns the pair of each rank. The least key has rank 0.
func (o *Ordered[K, V]) Select(ctx context.Context, ranks []uint32) (structures.Neighbors[K, V], error) {
	c, err := o.open()
	if err != nil {
		return structures.Neighbors[K, V]{}, err
	}
	x := c.call()
	x.kind, x.ranks = choose, ranks
	return c.neighbors(ctx, x)
}

// Floor returns the pair of the greatest key that is not above key, and whether there is one.
func (o *Ordered[K, V]) Floor(ctx context.Context, key K) (structures.Pair[K, V], bool, error) {
	return o.neighbor(ctx, structures.Floor, key)
}

// Ceil returns the pair of the least key that is not below key, and whether there is one.
func (o *Ordered[K, V]) Ceil(ctx context.Context, key K) (structures.Pair[K, V], bool, error) {
	return o.neighbor(ctx, structures.Ceil, key)
}

func (o *Ordered[K, V]) neighbor(ctx context.Context, to structures.Direction,
	key K) (pair structures.Pair[K, V], found bool, err error) {
	n, err := o.Neighbor(ctx, to, []K{key})
	if err != nil {
		return pair, false, err
	}
	return structures.Pair[K, V]{Key: n.Keys[0], Value: n.Values[0]}, n.Found[0], nil
}

// Ascend returns the pairs of a range in key order. It ends with structures.ErrChanged if the dictionary changes.
func (o *Ordered[K, V]) Ascend(ctx context.Context,
	r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	c, err := o.open()
	if err != nil {
		return transfer.Sequence(func(func(structures.Pair[K, V]) bool) error { return err })
	}
	return c.ordered.Ascend(ctx, r)
}

// Descend returns the pairs of a range, the greatest key first.
func (o *Ordered[K, V]) Descend(ctx context.Context,
	r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	c, err := o.open()
	if err != nil {
		return transfer.Sequence(func(func(structures.Pair[K, V]) bool) error { return err })
	}
	return c.ordered.Descend(ctx, r)
}

// DeleteRange removes the keys of each range, one range after the other, and returns how many it removed for each.
func (o *Ordered[K, V]) DeleteRange(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	c, err := o.open()
	if err != nil {
		return nil, err
	}
	if err := c.enter(); err != nil {
		return nil, err
	}
	defer c.users.Done()
	if err := c.change(ctx); err != nil {
		return make([]uint32, len(ranges)), pipeline.NotBegun(nil, len(ranges), err)
	}
	defer c.changed()
	return c.ordered.DeleteRange(ctx, ranges)
}
