package shard

import (
	"cmp"
	"context"
	"slices"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
)

// dictionary is a Map or a Tree, but for its type.
type dictionary[K, V structures.Number] struct {
	*reader[K, V]
	shards []structures.Dictionary[K, V]
	trees  []structures.Ordered[K, V] // the same of a Tree; nil of a Map
	// Of a Tree: how many pairs there were when their number was asked for, or at most so many, and how many keys were
	// inserted since.
	held, inserted uint64
}

// opened returns the dictionary, or one that is not open.
func (d *dictionary[K, V]) opened() *dictionary[K, V] {
	if d == nil {
		return &dictionary[K, V]{reader: (*reader[K, V])(nil).opened()}
	}
	return d
}

// newDictionary makes a dictionary of empty shards. trees are the same shards of a Tree, or nil.
func newDictionary[K, V structures.Number](ctx context.Context, p placement, shards []structures.Dictionary[K, V],
	trees []structures.Ordered[K, V]) (*dictionary[K, V], error) {
	if err := check(shards); err != nil {
		return nil, err
	}
	d := &dictionary[K, V]{reader: &reader[K, V]{core: newCore(p)}, shards: slices.Clone(shards),
		trees: slices.Clone(trees)}
	for _, s := range shards {
		d.reads = append(d.reads, s)
	}
	for _, s := range trees {
		d.asks = append(d.asks, s)
	}
	d.tidy = d.tidyInside
	lens, err := d.lens(ctx)
	if err = cmp.Or(err, empty(lens)); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *dictionary[K, V]) updateInto(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	if err := d.checkUpdates(kind, keys, values, status); err != nil {
		return err
	}
	ctx, leave, err := d.alone(ctx)
	if err != nil {
		return pipeline.NotBegun(status, len(keys), err)
	}
	defer leave()
	return d.updateInside(ctx, kind, keys, values, status)
}

// checkUpdates checks the arguments of updates of one kind.
func (d *dictionary[K, V]) checkUpdates(kind structures.Kind, keys []K, values []V, status []structures.Status) error {
	if err := d.gate.Err(); err != nil {
		return err
	}
	if !kind.Inserts() && kind != structures.Delete && kind != structures.DeleteAll {
		return &structures.KindError{Kind: kind}
	}
	if kind.Inserts() && len(values) != len(keys) {
		return &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
	}
	if !everywhere(kind) && !d.updates(kind) {
		return &structures.KindError{Kind: kind}
	}
	return pipeline.Fits(len(keys), "statuses", status)
}

// updateInside is updateInto for a caller that has entered.
func (d *dictionary[K, V]) updateInside(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	if !kind.Inserts() {
		return d.updateShards(ctx, kind, keys, nil, status)
	}
	d.beforeInsertion(ctx, keys)
	err := d.updateShards(ctx, kind, keys, values, status)
	if err == nil {
		d.afterInsertion(ctx, len(keys))
	}
	return err
}

// updateShards does a batch where keys belong now.
func (d *dictionary[K, V]) updateShards(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	d.changes.Add(1)
	return unfinished(d.run(ctx, &batch{
		n: len(keys), keys: columnOf(keys), in: []column{columnOf(keys), columnOf(values)}, lanes: 1,
		out: []column{columnOf(status), {}}, status: status != nil,
		do: func(ctx context.Context, s int, p part) error {
			return d.shards[s].UpdateInto(ctx, kind, typed[K](p.in[0]), typed[V](p.in[1]),
				typed[structures.Status](p.out[0]))
		},
	}))
}

// unfinished returns the error of an update that has left operations undone.
func unfinished(left int, err error) error {
	if left == 0 || kindRefused(err) {
		return err
	}
	return &structures.PendingError{Operations: left, Err: err}
}

func (d *dictionary[K, V]) update(ctx context.Context, kind structures.Kind, keys []K,
	values []V) ([]structures.Status, error) {
	status := make([]structures.Status, len(keys))
	return pipeline.Made(status, d.updateInto(ctx, kind, keys, values, status))
}

func (d *dictionary[K, V]) put(ctx context.Context, key K, value V) error {
	return d.updateInto(ctx, structures.Insert, []K{key}, []V{value}, nil)
}

// deleteRange removes ranges from the shards that they cross.
func (d *dictionary[K, V]) deleteRange(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	if err := d.gate.Err(); err != nil {
		return nil, err
	}
	ctx, leave, err := d.alone(ctx)
	if err != nil {
		return make([]uint32, len(ranges)), pipeline.NotBegun(nil, len(ranges), err)
	}
	defer leave()
	d.changes.Add(1)
	x := cross(&d.place, ranges)
	some, left := make([][]uint32, len(d.shards)), make([]int, len(d.shards))
	err = each(ctx, x.touched(), func(s int) (err error) {
		some[s], err = d.trees[s].DeleteRange(ctx, within(&d.place, s, pipeline.Pick(ranges, x[s])))
		if pending, is := err.(*structures.PendingError); is {
			left[s] = pending.Operations
		} else if err != nil {
			left[s] = len(x[s])
		}
		return err
	})
	all := 0
	for _, n := range left {
		all = min(all+n, len(ranges))
	}
	return x.added(len(ranges), some), unfinished(all, err)
}

func (d *dictionary[K, V]) clear(ctx context.Context) error {
	ctx, leave, err := d.alone(ctx)
	if err != nil {
		return err
	}
	defer leave()
	d.changes.Add(1)
	if err := each(ctx, d.all(), func(s int) error { return d.shards[s].Clear(ctx) }); err != nil {
		return err
	}
	d.place.splits, d.strays, d.held, d.inserted = nil, nil, 0, 0
	return nil
}

// even is Tree.Rebalance.
func (d *dictionary[K, V]) even(ctx context.Context) error {
	ctx, leave, err := d.alone(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := d.tidyInside(ctx); err != nil {
		return err
	}
	lens, err := d.lens(ctx)
	if err != nil {
		return err
	}
	return d.rebalance(ctx, lens)
}

func (d *dictionary[K, V]) prepare(ctx context.Context) error {
	if err := d.gate.Err(); err != nil {
		return err
	}
	return each(ctx, d.all(), func(s int) error { return d.shards[s].Prepare(ctx) })
}

func (d *dictionary[K, V]) close() error {
	ctx := context.Background()
	return d.gate.Close(func() error {
		err := each(ctx, d.all(), func(s int) error { return d.shards[s].Close() })
		if err == nil || lostOnly(err) {
			d.gate.End()
		}
		return err
	})
}

// everywhere reports whether every dictionary does operations of a kind in mixed batches.
func everywhere(k structures.Kind) bool {
	return k.Inserts() && k != structures.InsertDuplicate || k == structures.Delete || k == structures.Find ||
		k == structures.CountAll
}

// does reports whether all shards do operations of a kind in mixed batches.
func (d *dictionary[K, V]) does(k structures.Kind) bool {
	if k.Ordered() && !d.place.ordered {
		return false
	}
	return d.accept(func(ended context.Context, s structures.Dictionary[K, V]) error {
		_, err := s.Apply(ended, structures.Batch[K, V]{
			Kinds: []structures.Kind{k}, Keys: make([]K, 1), Values: make([]V, 1), Highs: make([]K, 1), Width: 1,
		})
		return err
	})
}

// updates reports whether all shards do batches of updates of a kind.
func (d *dictionary[K, V]) updates(k structures.Kind) bool {
	var values []V
	if k.Inserts() {
		values = make([]V, 1)
	}
	return d.accept(func(ended context.Context, s structures.Dictionary[K, V]) error {
		return s.UpdateInto(ended, k, make([]K, 1), values, nil)
	})
}

// accept reports whether no shard refuses the kind of an operation. They check the kind before they look at the
// context, which has ended, so they do nothing.
func (d *dictionary[K, V]) accept(ask func(ended context.Context, s structures.Dictionary[K, V]) error) bool {
	ended, end := context.WithCancel(context.Background())
	end()
	for _, s := range d.shards {
		if kindRefused(ask(ended, s)) {
			return false
		}
	}
	return true
}
