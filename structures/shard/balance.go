package shard

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/structures"
)

const (
	sampled     = 1 << 10 // keys for each shard
	leastGrowth = 1 << 12 // keys for each shard
)

// beforeInsertion sets the split points by a sample of the keys that a tree will get, if these are more than all before
// them. The pairs that there are move, unless the keys are too few different ones to divide them by. If that fails, the
// batch goes where the split points are now.
func (d *dictionary[K, V]) beforeInsertion(ctx context.Context, keys []K) {
	if d.trees == nil || d.place.shards == 1 || uint64(len(keys)) <= d.held+d.inserted {
		return
	}
	splits := d.sample(keys)
	if d.place.splits == nil {
		d.place.splits = splits
	} else if len(slices.Compact(slices.Clone(splits))) == len(splits) && d.tidyInside(ctx) == nil {
		_ = d.moveTo(ctx, splits)
	}
}

// sample returns the quantiles of a sample of keys.
func (d *dictionary[K, V]) sample(keys []K) (splits []uint64) {
	code, words := structures.KeyCode[K](), make([]uint64, min(len(keys), sampled*d.place.shards))
	for i := range words {
		words[i] = code.Word(keys[i*len(keys)/len(words)])
	}
	slices.Sort(words)
	for s := 1; s < d.place.shards; s++ {
		splits = append(splits, words[s*len(words)/d.place.shards])
	}
	return splits
}

// afterInsertion counts n keys that were inserted, and evens out the shards of a tree if they are uneven. It looks
// when as many keys were inserted as there were pairs the last time, so that the cost is a constant for each
// insertion. The insertion was done, whatever becomes of this: after an error all queries answer as before, and it is
// tried again later.
func (d *dictionary[K, V]) afterInsertion(ctx context.Context, n int) {
	d.inserted += uint64(n)
	if d.trees == nil || d.place.shards == 1 || d.inserted < max(d.held, uint64(leastGrowth*d.place.shards)) {
		return
	}
	d.held, d.inserted = d.held+d.inserted, 0
	if d.tidyInside(ctx) != nil {
		return
	}
	lens, err := d.lens(ctx)
	if err != nil {
		return
	}
	if d.held = sumOf(lens); uneven(lens) {
		_ = d.rebalance(ctx, lens)
	}
}

// uneven reports whether a shard has more than half again its share.
func uneven(lens []uint64) bool {
	return 2*slices.Max(lens)*uint64(len(lens)) > 3*sumOf(lens)
}

// rebalance gives each shard the same number of pairs. The caller has entered, and there are no strays: a stray would
// be an old pair in the shard to which its key may move back.
func (d *dictionary[K, V]) rebalance(ctx context.Context, lens []uint64) error {
	if sumOf(lens) < uint64(len(lens)) || len(lens) == 1 {
		return nil
	}
	for range sumOf(lens)>>32 + 2 { // each round takes 2^32-1 from the ranks that are too large
		ranks, exact := quantiles(lens)
		splits, err := d.wordsAt(ctx, ranks)
		if err == nil {
			err = d.moveTo(ctx, splits)
		}
		if err != nil || exact {
			return err
		}
		if lens, err = d.lens(ctx); err != nil {
			return err
		}
	}
	return nil
}

// quantiles returns where each shard but the first one will begin if all have the same number of pairs: ranks among the
// pairs of each shard as it is now. Ranks of 2^32 and more are not possible. If there are such, the least rank that
// is too large is taken, exact is false, and the quantiles of what the shards then have are closer.
func quantiles(lens []uint64) (ranks [][]uint32, exact bool) {
	n, at, before := uint64(len(lens)), uint64(1), uint64(0)
	share := sumOf(lens) / n
	ranks, exact = make([][]uint32, n), true
	for s, pairs := range lens {
		for ; at < n && share*at < before+pairs; at++ {
			rank := share*at - before
			exact = exact && rank <= math.MaxUint32
			ranks[s] = append(ranks[s], uint32(min(rank, math.MaxUint32)))
		}
		before += pairs
	}
	return ranks, exact
}

// wordsAt returns the words of the keys that have such ranks in the shards.
func (d *dictionary[K, V]) wordsAt(ctx context.Context, ranks [][]uint32) (words []uint64, err error) {
	code := structures.KeyCode[K]()
	for s, some := range ranks {
		if len(some) == 0 {
			continue
		}
		found, err := d.trees[s].Select(ctx, some)
		if err != nil {
			return nil, wrapped(ctx, s, err)
		}
		for _, key := range found.Keys {
			words = append(words, code.Word(key))
		}
	}
	return words, nil
}

// moving is a range of words of keys that one shard gives another.
type moving struct {
	from, to  int
	low, high uint64
}

// moves returns which ranges move if the split points change.
func moves(p, next *placement) (all []moving) {
	for from := range p.shards {
		for to := range p.shards {
			low, high := p.bounds(from)
			newLow, newHigh := next.bounds(to)
			if low, high = max(low, newLow), min(high, newHigh); from != to && low <= high {
				all = append(all, moving{from, to, low, high})
			}
		}
	}
	return all
}

// moveTo changes the split points. It copies all pairs that move, and then deletes them where they were. If copying
// fails, it deletes the copies, and everything is as it was. What can't be deleted are strays.
func (d *dictionary[K, V]) moveTo(ctx context.Context, splits []uint64) error {
	next := d.place
	next.splits = splits
	all := moves(&d.place, &next)
	d.changes.Add(1)
	undo := func() {
		for _, x := range all {
			d.strays = append(d.strays, stray{x.to, x.low, x.high})
		}
		_ = d.tidyInside(context.Background())
	}
	if err := gate.Unless(undo, func() error { return d.copyAll(ctx, all) }); err != nil {
		return err
	}
	d.place.splits = splits // alone: calls read the rest before they enter
	for _, x := range all {
		d.strays = append(d.strays, stray{x.from, x.low, x.high})
	}
	return d.tidyInside(context.Background())
}

// keysBetween returns the keys whose words are from low to high.
func keysBetween[K structures.Number](low, high uint64) structures.Range[K] {
	code := structures.KeyCode[K]()
	return structures.Range[K]{Lo: code.Of(low), Hi: code.Of(high)}
}

// copyAll inserts the pairs that move where they will belong.
func (d *dictionary[K, V]) copyAll(ctx context.Context, all []moving) error {
	const atOnce = 1 << 20
	some := &structures.Pairs[K, V]{}
	for _, x := range all {
		for pair, err := range d.trees[x.from].Ascend(ctx, keysBetween[K](x.low, x.high)) {
			if err != nil {
				return wrapped(ctx, x.from, err)
			}
			some.Keys, some.Values = append(some.Keys, pair.Key), append(some.Values, pair.Value)
			if len(some.Keys) < atOnce {
				continue
			}
			if err := d.insertAll(ctx, x.to, some); err != nil {
				return err
			}
		}
		if err := d.insertAll(ctx, x.to, some); err != nil {
			return err
		}
	}
	return nil
}

// insertAll inserts pairs into a shard, and removes them from some.
func (d *dictionary[K, V]) insertAll(ctx context.Context, to int, some *structures.Pairs[K, V]) error {
	if len(some.Keys) == 0 {
		return nil
	}
	err := d.shards[to].UpdateInto(ctx, structures.Insert, some.Keys, some.Values, nil)
	some.Keys, some.Values = some.Keys[:0], some.Values[:0]
	return wrapped(ctx, to, err)
}

// tidyInside deletes strays, for a caller that has entered alone. It goes on after an error, and keeps what is left.
func (d *dictionary[K, V]) tidyInside(ctx context.Context) (err error) {
	var left []stray
	for _, x := range d.strays {
		_, failed := d.trees[x.shard].DeleteRange(ctx, []structures.Range[K]{keysBetween[K](x.low, x.high)})
		if failed != nil {
			left = append(left, x)
			err = cmp.Or(err, wrapped(ctx, x.shard, failed))
		}
	}
	d.strays = left
	return err
}
