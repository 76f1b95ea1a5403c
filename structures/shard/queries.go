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

// crossing has for each shard the places in the batch of what concerns it, in order.
type crossing [][]int

// touched returns the shards that something concerns.
func (x crossing) touched() (shards []int) {
	for s, places := range x {
		if len(places) != 0 {
			shards = append(shards, s)
		}
	}
	return shards
}

// cross returns which shards ranges cross. Empty ranges cross none.
func cross[K structures.Number](p *placement, ranges []structures.Range[K]) crossing {
	code := structures.KeyCode[K]()
	x := make(crossing, p.shards)
	for i, r := range ranges {
		low, high := code.Word(r.Lo), code.Word(r.Hi)
		if low > high {
			continue
		}
		for s, last := p.of(low), p.of(high); s <= last; s++ {
			x[s] = append(x[s], i)
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

func (r *reader[K, V]) count(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	ctx, leave, err := r.beside(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	x := cross(&r.place, ranges)
	some := make([][]uint32, len(r.asks))
	err = each(ctx, x.touched(), func(s int) (err error) {
		some[s], err = r.asks[s].Count(ctx, within(&r.place, s, pipeline.Pick(ranges, x[s])))
		return err
	})
	return x.added(len(ranges), some), err
}

// added adds the numbers that shards have for their ranges. A shard that failed has none.
func (x crossing) added(ranges int, some [][]uint32) []uint32 {
	sums := make([]uint32, ranges)
	for s, counts := range some {
		for j, n := range counts {
			sums[x[s][j]] += n
		}
	}
	return sums
}

func (r *reader[K, V]) rangeInto(ctx context.Context, ranges []structures.Range[K],
	into *structures.Ranges[K, V]) error {
	if err := r.gate.Err(); err != nil {
		return err
	}
	if into == nil {
		return &vk.OptionError{Option: "into", Reason: "nil"}
	}
	ctx, leave, err := r.beside(ctx)
	if err != nil {
		return err
	}
	defer leave()
	x := cross(&r.place, ranges)
	some := make([]structures.Ranges[K, V], len(r.asks))
	err = each(ctx, x.touched(), func(s int) error {
		return r.asks[s].RangeInto(ctx, within(&r.place, s, pipeline.Pick(ranges, x[s])), &some[s])
	})
	if err == nil {
		joinRanges(x, len(ranges), some, into)
	}
	return err
}

// joinRanges writes the pairs that shards have of ranges, in the order of the ranges and then of the shards.
func joinRanges[K, V structures.Number](x crossing, n int, some []structures.Ranges[K, V],
	into *structures.Ranges[K, V]) {
	into.Offsets = slices.Grow(into.Offsets[:0], n+1)[:n+1]
	clear(into.Offsets)
	for s, places := range x {
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
	for s, places := range x {
		begins := make([]uint64, len(places))
		for j, i := range places {
			begins[j] = at[i]
			at[i] += some[s].Offsets[j+1] - some[s].Offsets[j]
		}
		from := &some[s]
		shares := max(1, min(threads.Shares(), len(places)/leastShare))
		threads.InShares(shares, len(places), func(_, first, end int) {
			for j := first; j < end; j++ {
				a, b := from.Offsets[j], from.Offsets[j+1]
				threads.Copy(into.Keys[begins[j]:], from.Keys[a:b])
				threads.Copy(into.Values[begins[j]:], from.Values[a:b])
			}
		})
	}
}

// before returns the number of pairs in the shards before each.
func before(lens []uint64) []uint64 {
	sums := make([]uint64, len(lens))
	for s := range len(lens) - 1 {
		sums[s+1] = sums[s] + lens[s]
	}
	return sums
}

// outNeighbors returns the columns of neighbors.
func outNeighbors[K, V structures.Number](n structures.Neighbors[K, V]) []column {
	return []column{columnOf(n.Keys), columnOf(n.Values), columnOf(n.Found), {}}
}

// copyNeighbors writes the neighbors that a shard has found.
func copyNeighbors[K, V structures.Number](p part, n structures.Neighbors[K, V]) {
	copy(typed[K](p.out[0]), n.Keys)
	copy(typed[V](p.out[1]), n.Values)
	copy(typed[bool](p.out[2]), n.Found)
}

func (r *reader[K, V]) neighbor(ctx context.Context, to structures.Direction,
	keys []K) (n structures.Neighbors[K, V], err error) {
	if err := cmp.Or(r.gate.Err(), pipeline.CheckDirection(to)); err != nil {
		return n, err
	}
	ctx, leave, err := r.beside(ctx)
	if err != nil {
		return n, err
	}
	defer leave()
	n = pipeline.NeighborsOf[K, V](len(keys))
	_, err = r.run(ctx, &batch{
		n: len(keys), keys: columnOf(keys), in: []column{columnOf(keys), {}}, out: outNeighbors(n), lanes: 2,
		do: func(ctx context.Context, s int, p part) error {
			n, err := r.asks[s].Neighbor(ctx, to, typed[K](p.in[0]))
			if len(r.strays) != 0 {
				for i, key := range n.Keys {
					if shardOf(&r.place, key) != s {
						n.Keys[i], n.Values[i], n.Found[i] = 0, 0, false
					}
				}
			}
			copyNeighbors(p, n)
			return err
		},
	})
	if err == nil {
		err = r.beyond(ctx, to, keys, &n)
	}
	return n, err
}

// beyond searches in the shards beyond those of keys that have no neighbor there. All such keys have the same neighbor
// in a shard: its first key, or its last one.
func (r *reader[K, V]) beyond(ctx context.Context, to structures.Direction, keys []K,
	n *structures.Neighbors[K, V]) error {
	up, step := true, 1
	if to == structures.Predecessor || to == structures.Floor {
		up, step = false, -1
	}
	edges := make([]*structures.Neighbors[K, V], len(r.asks)) // of shards that were asked
	for i, key := range keys {
		if n.Found[i] {
			continue
		}
		for s := shardOf(&r.place, key) + step; s >= 0 && s < len(edges) && !n.Found[i]; s += step {
			if edges[s] == nil {
				to, from := outermost[K](&r.place, s, up)
				edge, err := r.asks[s].Neighbor(ctx, to, []K{from})
				if err != nil {
					return wrapped(ctx, s, err)
				}
				edge.Found[0] = edge.Found[0] && shardOf(&r.place, edge.Keys[0]) == s
				edges[s] = &edge
			}
			if edges[s].Found[0] {
				n.Keys[i], n.Values[i], n.Found[i] = edges[s].Keys[0], edges[s].Values[0], true
			}
		}
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

func (r *reader[K, V]) rank(ctx context.Context, keys []K) ([]uint32, error) {
	ctx, leave, err := r.whole(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	lens, err := r.lens(ctx)
	if err != nil {
		return nil, err
	}
	ranks, before := make([]uint32, len(keys)), before(lens)
	_, err = r.run(ctx, &batch{
		n: len(keys), keys: columnOf(keys), in: []column{columnOf(keys), {}}, out: []column{columnOf(ranks), {}},
		lanes: 2,
		do: func(ctx context.Context, s int, p part) error {
			some, err := r.asks[s].Rank(ctx, typed[K](p.in[0]))
			for i, rank := range some {
				typed[uint32](p.out[0])[i] = rank + uint32(before[s])
			}
			return err
		},
	})
	return ranks, err
}

func (r *reader[K, V]) selected(ctx context.Context, ranks []uint32) (n structures.Neighbors[K, V], err error) {
	ctx, leave, err := r.whole(ctx)
	if err != nil {
		return n, err
	}
	defer leave()
	lens, err := r.lens(ctx)
	if err != nil {
		return n, err
	}
	n = pipeline.NeighborsOf[K, V](len(ranks))
	before := before(lens)
	byRank := &core{place: byCount(before)}
	_, err = byRank.run(ctx, &batch{
		n: len(ranks), keys: columnOf(ranks), in: []column{columnOf(ranks), {}}, out: outNeighbors(n), lanes: 2,
		do: func(ctx context.Context, s int, p part) error {
			own := slices.Clone(typed[uint32](p.in[0]))
			for i := range own {
				own[i] -= uint32(before[s])
			}
			n, err := r.asks[s].Select(ctx, own)
			copyNeighbors(p, n)
			return err
		},
	})
	return n, err
}

// ascend returns the pairs of a range, in order or the greatest key first.
func (r *reader[K, V]) ascend(ctx context.Context, keys structures.Range[K],
	down bool) iter.Seq2[structures.Pair[K, V], error] {
	return func(yield func(structures.Pair[K, V], error) bool) {
		all, parts := []structures.Range[K]{keys}, make([]structures.Range[K], len(r.asks))
		shards := func() []int {
			shards := cross(&r.place, all).touched()
			for _, s := range shards {
				parts[s] = within(&r.place, s, slices.Clone(all))[0]
			}
			if down {
				slices.Reverse(shards)
			}
			return shards
		}
		chained(iteration{ctx, r.core, r.beside}, shards, func(s int) iter.Seq2[structures.Pair[K, V], error] {
			if down {
				return r.asks[s].Descend(ctx, parts[s])
			}
			return r.asks[s].Ascend(ctx, parts[s])
		})(yield)
	}
}
