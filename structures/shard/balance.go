package shard

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/structures"
)

// growth decides when it is time to look whether shards are uneven: when as many keys were inserted as there were pairs
// the last time. So the cost of moving pairs is a constant for each insertion.
type growth struct{ inserted, last uint64 }

const leastGrowth = 1 << 12 // keys for each shard

// due counts keys that were inserted, and reports whether it is time.
func (g *growth) due(keys, shards int) bool {
	g.inserted += uint64(keys)
	return g.inserted >= max(g.last, uint64(leastGrowth*shards))
}

// looked says that shards have so many pairs.
func (g *growth) looked(pairs uint64) { *g = growth{last: pairs} }

// uneven reports whether a shard has more than half again its share.
func uneven(lens []uint64) bool {
	return 2*slices.Max(lens)*uint64(len(lens)) > 3*sumOf(lens)
}

// evenOut evens out the shards after an insertion, if it is time and they are uneven. The insertion was done, whatever
// becomes of this: after an error all queries answer as before, and it is tried again later.
func (t *tree[K, V]) evenOut(ctx context.Context, keys int) {
	if t.place.shards == 1 || len(t.strays) != 0 || !t.growth.due(keys, t.place.shards) {
		return
	}
	lens, err := t.lens(ctx)
	if err != nil {
		return
	}
	t.growth.looked(sumOf(lens))
	if uneven(lens) {
		_ = t.rebalance(ctx, lens)
	}
}

// rebalance gives each shard the same number of pairs. The caller has entered, and there are no strays: a stray would
// be an old pair in the shard to which its key may move back.
func (t *tree[K, V]) rebalance(ctx context.Context, lens []uint64) error {
	n, total := uint64(t.place.shards), sumOf(lens)
	if total < n || n == 1 {
		return nil
	}
	splits, err := t.quantiles(ctx, lens)
	if err != nil {
		return err
	}
	t.changes.Add(1)
	m := &moving[K, V]{tree: t, from: t.place, to: t.place}
	m.to.splits = splits
	return m.run(ctx)
}

// quantiles returns the words of the first key of each shard but the first one, if all have the same number of pairs.
// There may be more than 2^32 pairs, so it asks each shard by the ranks of its own pairs.
func (t *tree[K, V]) quantiles(ctx context.Context, lens []uint64) ([]uint64, error) {
	n, before := uint64(len(lens)), uint64(0)
	share := sumOf(lens) / n
	code, splits := structures.KeyCode[K](), make([]uint64, 0, n-1)
	for s, pairs := range lens {
		var ranks []uint32
		for at := uint64(len(splits)) + 1; at < n && share*at < before+pairs; at++ {
			ranks = append(ranks, uint32(min(share*at-before, math.MaxUint32)))
		}
		before += pairs
		if len(ranks) == 0 {
			continue
		}
		found, err := t.ordered[s].Select(ctx, ranks)
		if err != nil {
			return nil, wrapped(ctx, s, err)
		}
		for _, key := range found.Keys {
			splits = append(splits, code.Word(key))
		}
	}
	return splits, nil
}

// moving moves pairs to the shards that get their ranges.
type moving[K, V structures.Number] struct {
	*tree[K, V]
	from, to placement
	moves    []move
}

// move is a range of words of keys that one shard gives another.
type move struct {
	from, to  int
	low, high uint64
}

// bounds returns the words of the keys that belong to a shard; none if low > high.
func (p *placement) bounds(s int) (low, high uint64) {
	high = ^uint64(0) >> (64 - p.width.Bits())
	if s > 0 && s <= len(p.splits) {
		low = p.splits[s-1]
	}
	switch {
	case s > len(p.splits):
		return 1, 0
	case s < len(p.splits) && p.splits[s] == 0:
		return 1, 0
	case s < len(p.splits):
		high = p.splits[s] - 1
	}
	return low, high
}

// plan lists the moves.
func (m *moving[K, V]) plan() {
	for from := range m.from.shards {
		for to := range m.to.shards {
			low, high := m.from.bounds(from)
			newLow, newHigh := m.to.bounds(to)
			if low, high = max(low, newLow), min(high, newHigh); from != to && low <= high {
				m.moves = append(m.moves, move{from, to, low, high})
			}
		}
	}
}

// run copies all pairs that move, and then deletes them where they were. If copying fails, the copies are deleted, and
// everything is as it was. What can't be deleted are strays.
func (m *moving[K, V]) run(ctx context.Context) error {
	m.plan()
	undo := func() { _ = m.drop(move.target) }
	if err := gate.Unless(undo, func() error { return m.copyAll(ctx) }); err != nil {
		return err
	}
	m.place.splits = m.to.splits
	return m.drop(move.source)
}

func (x move) source() int { return x.from }

func (x move) target() int { return x.to }

// keysBetween returns the keys whose words are from low to high.
func keysBetween[K structures.Number](low, high uint64) structures.Range[K] {
	code := structures.KeyCode[K]()
	return structures.Range[K]{Lo: code.Of(low), Hi: code.Of(high)}
}

// copyAll inserts the pairs that move where they will belong.
func (m *moving[K, V]) copyAll(ctx context.Context) error {
	for _, x := range m.moves {
		some := &structures.Pairs[K, V]{}
		for pair, err := range m.ordered[x.from].Ascend(ctx, keysBetween[K](x.low, x.high)) {
			if err != nil {
				return wrapped(ctx, x.from, err)
			}
			some.Keys, some.Values = append(some.Keys, pair.Key), append(some.Values, pair.Value)
			if err := m.insert(ctx, x.to, some, 1<<20); err != nil {
				return err
			}
		}
		if err := m.insert(ctx, x.to, some, 1); err != nil {
			return err
		}
	}
	return nil
}

// insert inserts pairs into a shard if they are at least so many.
func (m *moving[K, V]) insert(ctx context.Context, s int, some *structures.Pairs[K, V], least int) error {
	if len(some.Keys) < least {
		return nil
	}
	err := m.shards[s].UpdateInto(ctx, structures.Insert, some.Keys, some.Values, nil)
	some.Keys, some.Values = some.Keys[:0], some.Values[:0]
	return wrapped(ctx, s, err)
}

// drop deletes the pairs of all moves in one of their shards.
func (m *moving[K, V]) drop(in func(move) int) error {
	for _, x := range m.moves {
		m.strays = append(m.strays, stray{in(x), x.low, x.high})
	}
	return m.tidyInside(context.Background())
}

// tidyInside deletes strays, for a caller that has entered alone. It goes on after an error, and keeps what is left.
func (t *tree[K, V]) tidyInside(ctx context.Context) (err error) {
	var left []stray
	for _, x := range t.strays {
		keys := []structures.Range[K]{keysBetween[K](x.low, x.high)}
		_, failed := t.ordered[x.shard].DeleteRange(ctx, keys)
		if failed != nil {
			left = append(left, x)
			err = cmp.Or(err, wrapped(ctx, x.shard, failed))
		}
	}
	t.strays = left
	return err
}
