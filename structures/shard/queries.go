package shard

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// queries answers queries that may cross shards.
type queries[K, V structures.Number] struct {
	*reader[K, V]
	shards []structures.Queries[K, V]
}

// crossing has the ranges that each shard may have keys of: their places in the batch, in order.
type crossing struct{ places [][]int }

// touched returns the shards that ranges cross.
func (x crossing) touched() (shards []int) {
	for s, places := range x.places {
		if len(places) != 0 {
			shards = append(shards, s)
		}
	}
	return shards
}

// cross returns which shards ranges cross. Empty ranges cross none.
func cross[K structures.Number](p *placement, ranges []structures.Range[K]) crossing {
	code := structures.KeyCode[K]()
	x := crossing{make([][]int, p.shards)}
	for i, r := range ranges {
		low, high := code.Word(r.Lo), code.Word(r.Hi)
		if low > high {
			continue
		}
		for s, last := p.of(low), p.of(high); s <= last; s++ {
			x.places[s] = append(x.places[s], i)
		}
	}
	return x
}

// within returns the parts of ranges that belong to a shard, because it may have strays beyond.
func within[K structures.Number](p *placement, s int, ranges []structures.Range[K]) []structures.Range[K] {
	code := structures.KeyCode[K]()
	low, high := p.bounds(s)
	for i, r := range ranges {
		ranges[i] = keysBetween[K](max(code.Word(r.Lo), low), min(code.Word(r.Hi), high))
	}
	return ranges
}

func (q *queries[K, V]) count(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	ctx, leave, err := q.beside(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	x := cross(&q.place, ranges)
	some := make([][]uint32, len(q.shards))
	err = each(ctx, x.touched(), func(s int) (err error) {
		counts, err := q.shards[s].Count(ctx, within(&q.place, s, pipeline.Pick(ranges, x.places[s])))
		some[s] = counts
		return err
	})
	return x.added(len(ranges), some), err
}

// added adds the numbers that shards have for their ranges. A shard that failed has none.
func (x crossing) added(ranges int, some [][]uint32) []uint32 {
	sums := make([]uint32, ranges)
	for s, counts := range some {
		for j, n := range counts {
			sums[x.places[s][j]] += n
		}
	}
	return sums
}

func (q *queries[K, V]) rangeInto(ctx context.Context, ranges []structures.Range[K],
	into *structures.Ranges[K, V]) error {
	if err := q.gate.Err(); err != nil {
		return err
	}
	if into == nil {
		return &vk.OptionError{Option: "into", Reason: "nil"}
	}
	ctx, leave, err := q.beside(ctx)
	if err != nil {
		return err
	}
	defer leave()
	x := cross(&q.place, ranges)
	some := make([]structures.Ranges[K, V], len(q.shards))
	err = each(ctx, x.touched(), func(s int) error {
		return q.shards[s].RangeInto(ctx, within(&q.place, s, pipeline.Pick(ranges, x.places[s])), &some[s])
	})
	if err != nil {
		return err
	}
	joinRanges(x, len(ranges), some, into)
	return nil
}

// joinRanges writes the pairs that shards have of ranges, in the order of the ranges and then of the shards.
func joinRanges[K, V structures.Number](x crossing, n int, some []structures.Ranges[K, V],
	into *structures.Ranges[K, V]) {
	into.Offsets = slices.Grow(into.Offsets[:0], n+1)[:n+1]
	clear(into.Offsets)
	for s, places := range x.places {
		for j, i := range places {
			into.Offsets[i+1] += some[s].Offsets[j+1] - some[s].Offsets[j]
		}
	}
	for i := range n {
		into.Offsets[i+1] += into.Offsets[i]
	}
	all := int(into.Offsets[n])
	into.Keys, into.Values = slices.Grow(into.Keys[:0], all)[:all], slices.Grow(into.Values[:0], all)[:all]
	at := slices.Clone(into.Offsets)
	for s, places := range x.places {
		begins := make([]uint64, len(places))
		for j, i := range places {
			begins[j] = at[i]
			at[i] += some[s].Offsets[j+1] - some[s].Offsets[j]
		}
		from := &some[s]
		shares := max(1, min(threads.Shares(), len(places)/leastShare))
		inShares(shares, len(places), func(_, first, end int) {
			for j := first; j < end; j++ {
				a, b := from.Offsets[j], from.Offsets[j+1]
				threads.Copy(into.Keys[begins[j]:], from.Keys[a:b])
				threads.Copy(into.Values[begins[j]:], from.Values[a:b])
			}
		})
	}
}

// nearest does a shard's part of a search for neighbors, ranking and selecting those of the other queries by rank.
type (
	nearest[K, V structures.Number] struct {
		*queries[K, V]
		to structures.Direction
	}
	ranking[K, V structures.Number] struct {
		shards []structures.Queries[K, V]
		before []uint64 // the number of pairs in the shards before each
	}
	selecting[K, V structures.Number] ranking[K, V]
)

func (n nearest[K, V]) call(ctx context.Context, s int, p part) error {
	r, err := n.shards[s].Neighbor(ctx, n.to, typed[K](p.in[0]))
	if len(n.strays) != 0 {
		for i, key := range r.Keys {
			if shardOf(&n.place, key) != s {
				r.Keys[i], r.Values[i], r.Found[i] = 0, 0, false
			}
		}
	}
	copyNeighbors(p, r)
	return err
}

func copyNeighbors[K, V structures.Number](p part, r structures.Neighbors[K, V]) {
	copy(typed[K](p.out[0]), r.Keys)
	copy(typed[V](p.out[1]), r.Values)
	copy(typed[bool](p.out[2]), r.Found)
}

func (r ranking[K, V]) call(ctx context.Context, s int, p part) error {
	ranks, err := r.shards[s].Rank(ctx, typed[K](p.in[0]))
	for i, rank := range ranks {
		typed[uint32](p.out[0])[i] = rank + uint32(r.before[s])
	}
	return err
}

func (r selecting[K, V]) call(ctx context.Context, s int, p part) error {
	ranks := slices.Clone(typed[uint32](p.in[0]))
	for i := range ranks {
		ranks[i] -= uint32(r.before[s])
	}
	n, err := r.shards[s].Select(ctx, ranks)
	copyNeighbors(p, n)
	return err
}

// before returns the number of pairs in the shards before each.
func before(lens []uint64) []uint64 {
	sums := make([]uint64, len(lens))
	for s := range len(lens) - 1 {
		sums[s+1] = sums[s] + lens[s]
	}
	return sums
}

func neighborsOf[K, V structures.Number](n int) structures.Neighbors[K, V] {
	return structures.Neighbors[K, V]{Keys: make([]K, n), Values: make([]V, n), Found: make([]bool, n)}
}

func (q *queries[K, V]) neighbor(ctx context.Context, to structures.Direction,
	keys []K) (n structures.Neighbors[K, V], err error) {
	if err := cmp.Or(q.gate.Err(), pipeline.CheckDirection(to)); err != nil {
		return n, err
	}
	ctx, leave, err := q.beside(ctx)
	if err != nil {
		return n, err
	}
	defer leave()
	n = neighborsOf[K, V](len(keys))
	_, err = q.run(ctx, &batch{
		n: len(keys), keys: columnOf(keys), in: []column{columnOf(keys), {}}, lanes: 2,
		out: []column{columnOf(n.Keys), columnOf(n.Values), columnOf(n.Found), {}},
		do:  nearest[K, V]{q, to},
	})
	if err == nil {
		err = q.beyond(ctx, to, keys, &n)
	}
	return n, err
}

// beyond searches in the shards beyond those of keys that have no neighbor there. All such keys have the same neighbor
// in a shard: its first key, or its last one.
func (q *queries[K, V]) beyond(ctx context.Context, to structures.Direction, keys []K,
	n *structures.Neighbors[K, V]) error {
	var missing []int
	for i, found := range n.Found {
		if !found {
			missing = append(missing, i)
		}
	}
	up := to == structures.Successor || to == structures.Ceil
	shards := q.all()
	if !up {
		slices.Reverse(shards)
	}
	for _, s := range shards {
		var here, rest []int
		for _, i := range missing {
			if home := shardOf(&q.place, keys[i]); up && home < s || !up && home > s {
				here = append(here, i)
			} else {
				rest = append(rest, i)
			}
		}
		if len(here) == 0 {
			continue
		}
		to, edge := outermost[K](&q.place, s, up)
		r, err := q.shards[s].Neighbor(ctx, to, []K{edge})
		if err != nil {
			return wrapped(ctx, s, err)
		}
		if !r.Found[0] || shardOf(&q.place, r.Keys[0]) != s {
			continue
		}
		for _, i := range here {
			n.Keys[i], n.Values[i], n.Found[i] = r.Keys[0], r.Values[0], true
		}
		missing = rest
	}
	return nil
}

// outermost returns the direction and the key that find the first key of a shard, or the last one.
func outermost[K structures.Number](p *placement, s int, first bool) (to structures.Direction, from K) {
	low, high := p.bounds(s)
	if first {
		return structures.Ceil, structures.KeyCode[K]().Of(low)
	}
	return structures.Floor, structures.KeyCode[K]().Of(high)
}

func (q *queries[K, V]) rank(ctx context.Context, keys []K) ([]uint32, error) {
	ctx, leave, err := q.whole(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	lens, err := q.lens(ctx)
	if err != nil {
		return nil, err
	}
	ranks := make([]uint32, len(keys))
	_, err = q.run(ctx, &batch{
		n: len(keys), keys: columnOf(keys), in: []column{columnOf(keys), {}}, lanes: 2,
		out: []column{columnOf(ranks), {}}, do: ranking[K, V]{q.shards, before(lens)},
	})
	return ranks, err
}

func (q *queries[K, V]) selected(ctx context.Context, ranks []uint32) (n structures.Neighbors[K, V], err error) {
	ctx, leave, err := q.whole(ctx)
	if err != nil {
		return n, err
	}
	defer leave()
	lens, err := q.lens(ctx)
	if err != nil {
		return n, err
	}
	n = neighborsOf[K, V](len(ranks))
	byRank := &core{place: byCount(lens)}
	_, err = byRank.run(ctx, &batch{
		n: len(ranks), keys: columnOf(ranks), in: []column{columnOf(ranks), {}}, lanes: 2,
		out: []column{columnOf(n.Keys), columnOf(n.Values), columnOf(n.Found), {}},
		do:  selecting[K, V]{q.shards, before(lens)},
	})
	return n, err
}

// ascend returns the pairs of a range, in order or the greatest key first.
func (q *queries[K, V]) ascend(ctx context.Context, r structures.Range[K],
	down bool) iter.Seq2[structures.Pair[K, V], error] {
	return func(yield func(structures.Pair[K, V], error) bool) {
		parts := make([]structures.Range[K], len(q.shards))
		shards := func() []int {
			shards := cross(&q.place, []structures.Range[K]{r}).touched()
			for _, s := range shards {
				parts[s] = within(&q.place, s, []structures.Range[K]{r})[0]
			}
			if down {
				slices.Reverse(shards)
			}
			return shards
		}
		chained(iteration{ctx, q.core, q.beside}, shards, func(s int) iter.Seq2[structures.Pair[K, V], error] {
			if down {
				return q.shards[s].Descend(ctx, parts[s])
			}
			return q.shards[s].Ascend(ctx, parts[s])
		})(yield)
	}
}
