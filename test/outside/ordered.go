package main

import (
	"maps"
	"slices"

	"github.com/vkds/vkds/structures"
)

// queries compares what is asked of a structure in key order with a map.
func queries[K, V structures.Number](what string, q structures.Queries[K, V], want map[K]V) {
	known := slices.Sorted(maps.Keys(want))
	keys := some[K](0, 4*pairs-1)
	values, found := must2(q.Find(ctx, keys))
	value, there, err := q.Get(ctx, keys[0])
	equal(what+": Get", []any{values[0], found[0], nil}, []any{value, there, err})
	found2, values2 := make([]bool, len(keys)), make([]V, len(keys))
	check(q.FindInto(ctx, keys, values2, found2))
	equal(what+": FindInto", values, values2)
	equal(what+": found by FindInto", found, found2)
	ranks := make([]uint32, len(keys))
	for i, key := range keys {
		value, there := want[key]
		equal(what+": Find", value, values[i])
		equal(what+": found by Find", there, found[i])
		at, _ := slices.BinarySearch(known, key)
		ranks[i] = uint32(at)
	}
	equal(what+": Rank", ranks, must(q.Rank(ctx, keys)))

	neighbors(what, q, want, known, keys)
	ranges(what, q, want, known)
}

// neighbors compares the pairs next to keys and those of ranks.
func neighbors[K, V structures.Number](what string, q structures.Queries[K, V], want map[K]V, known, keys []K) {
	for _, to := range []struct {
		direction structures.Direction
		of        func(key K) int // the place in the order; -1 or their number where there is none
	}{
		{structures.Successor, func(key K) int { at, is := slices.BinarySearch(known, key); return at + count(is) }},
		{structures.Predecessor, func(key K) int { at, _ := slices.BinarySearch(known, key); return at - 1 }},
		{structures.Floor, func(key K) int { at, is := slices.BinarySearch(known, key); return at - 1 + count(is) }},
		{structures.Ceil, func(key K) int { at, _ := slices.BinarySearch(known, key); return at }},
	} {
		places := make([]int, len(keys))
		for i, key := range keys {
			places[i] = to.of(key)
		}
		wanted := at(want, known, places)
		equal(what+": "+to.direction.String(), wanted, must(q.Neighbor(ctx, to.direction, keys)))
	}
	ranks, places := some[uint32](0, len(known)+5), some[int](0, len(known)+5)
	wanted := at(want, known, places)
	equal(what+": Select", wanted, must(q.Select(ctx, ranks)))
}

func noNeighbors[K, V structures.Number](n int) structures.Neighbors[K, V] {
	return structures.Neighbors[K, V]{Keys: make([]K, n), Values: make([]V, n), Found: make([]bool, n)}
}

// at are the pairs at some places of the order.
func at[K, V structures.Number](want map[K]V, known []K, places []int) structures.Neighbors[K, V] {
	n := noNeighbors[K, V](len(places))
	for i, place := range places {
		if n.Found[i] = place >= 0 && place < len(known); n.Found[i] {
			n.Keys[i], n.Values[i] = known[place], want[known[place]]
		}
	}
	return n
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// someRanges are ranges, what they have of a map, and how many keys each has.
func someRanges[K, V structures.Number](want map[K]V, known []K) (all []structures.Range[K],
	have structures.Ranges[K, V], counts []uint32) {
	all = []structures.Range[K]{{Lo: 0, Hi: 10}, {Lo: K(pairs / 2), Hi: K(2 * pairs)}, {Lo: 9, Hi: 8},
		structures.AllKeys[K]()}
	have.Offsets = []uint64{0}
	for _, r := range all {
		n := uint32(0)
		for _, key := range known {
			if r.Lo <= key && key <= r.Hi {
				have.Keys, have.Values = append(have.Keys, key), append(have.Values, want[key])
				n++
			}
		}
		have.Offsets, counts = append(have.Offsets, uint64(len(have.Keys))), append(counts, n)
	}
	return all, have, counts
}

// ranges compares ranges and iterators.
func ranges[K, V structures.Number](what string, q structures.Queries[K, V], want map[K]V, known []K) {
	asked, have, counts := someRanges(want, known)
	equal(what+": Count", counts, must(q.Count(ctx, asked)))
	equal(what+": Range", have, must(q.Range(ctx, asked)))
	var into structures.Ranges[K, V]
	check(q.RangeInto(ctx, asked, &into))
	equal(what+": RangeInto", have, into)

	var all, chunks, up, down []K
	for pair, err := range q.All(ctx) {
		check(err)
		equal(what+": a value of All", want[pair.Key], pair.Value)
		all = append(all, pair.Key)
	}
	for part, err := range q.Chunks(ctx) {
		check(err)
		chunks = append(chunks, part.Keys...)
	}
	for pair, err := range q.Ascend(ctx, structures.AllKeys[K]()) {
		check(err)
		equal(what+": a value of Ascend", want[pair.Key], pair.Value)
		up = append(up, pair.Key)
	}
	for pair, err := range q.Descend(ctx, structures.AllKeys[K]()) {
		check(err)
		equal(what+": a value of Descend", want[pair.Key], pair.Value)
		down = append(down, pair.Key)
	}
	slices.Reverse(down)
	equal(what+": All", known, all)
	equal(what+": Chunks", known, chunks)
	equal(what+": Ascend", known, up)
	equal(what+": Descend", known, down)
}

// deleteRange compares the deletion of ranges.
func deleteRange[K, V structures.Number](what string, d structures.Ordered[K, V], want map[K]V) {
	known := slices.Sorted(maps.Keys(want))
	lo, hi := known[10], known[len(known)/2]
	maps.DeleteFunc(want, func(key K, _ V) bool { return lo <= key && key <= hi })
	gone := uint32(len(known) - len(want))
	r := structures.Range[K]{Lo: lo, Hi: hi}
	equal(what+": DeleteRange", []uint32{gone, 0}, must(d.DeleteRange(ctx, []structures.Range[K]{r, r})))
	holds(what+", behind DeleteRange", d, want)
}
