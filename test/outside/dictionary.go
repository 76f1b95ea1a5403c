package main

import (
	"bytes"
	"maps"
	"slices"

	"github.com/vkds/vkds/structures"
)

// some are n numbers from a first one on, in no order; n is no multiple of the prime 7919.
func some[T structures.Number](first, n int) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = T(first + i*7919%n)
	}
	return all
}

// repeated are n statuses.
func repeated(s structures.Status, n int) []structures.Status {
	return slices.Repeat([]structures.Status{s}, n)
}

const pairs = 200

// updates compares what updates do to an empty dictionary with what they do to a map, which it returns.
func updates[K, V structures.Number](what string, d structures.Dictionary[K, V]) map[K]V {
	want := map[K]V{}
	keys, values := some[K](1, pairs), some[V](5, pairs)
	for i, key := range keys {
		want[key] = values[i]
	}
	equal(what+": Insert", repeated(structures.Inserted, pairs), must(d.Insert(ctx, keys, values)))

	sum := func(old, v V) V { return old + v }
	least := func(old, v V) V { return min(old, v) }
	greatest := func(old, v V) V { return max(old, v) }
	into := func(kind structures.Kind) func(keys []K, values []V) ([]structures.Status, error) {
		return func(keys []K, values []V) ([]structures.Status, error) {
			status := make([]structures.Status, len(keys))
			return status, d.UpdateInto(ctx, kind, keys, values, status)
		}
	}
	retry := func(keys []K, values []V) ([]structures.Status, error) {
		status := repeated(structures.Pending, len(keys))
		return status, structures.Retry(ctx, d, structures.Insert, keys, values, status)
	}
	for i, update := range []struct {
		name  string
		run   func(keys []K, values []V) ([]structures.Status, error)
		there structures.Status
		value func(old, v V) V
	}{
		{"Insert", func(k []K, v []V) ([]structures.Status, error) { return d.Insert(ctx, k, v) },
			structures.Assigned, func(_, v V) V { return v }},
		{"InsertUnique", func(k []K, v []V) ([]structures.Status, error) { return d.InsertUnique(ctx, k, v) },
			structures.Found, func(old, _ V) V { return old }},
		{"InsertAdd", func(k []K, v []V) ([]structures.Status, error) { return d.InsertAdd(ctx, k, v) },
			structures.Assigned, sum},
		{"InsertMin", func(k []K, v []V) ([]structures.Status, error) { return d.InsertMin(ctx, k, v) },
			structures.Assigned, least},
		{"InsertMax", func(k []K, v []V) ([]structures.Status, error) { return d.InsertMax(ctx, k, v) },
			structures.Assigned, greatest},
		{"Retry", retry, structures.Assigned, func(_, v V) V { return v }},
		{"UpdateInto", into(structures.Insert), structures.Assigned, func(_, v V) V { return v }},
	} {
		keys, values := some[K](pairs/2+10*i, pairs), some[V](50, pairs)
		status, err := update.run(keys, values)
		check(err)
		wanted := repeated(structures.Inserted, pairs)
		for j, key := range keys {
			if old, there := want[key]; there {
				wanted[j], want[key] = update.there, update.value(old, values[j])
			} else {
				want[key] = values[j]
			}
		}
		equal(what+": "+update.name, wanted, status)
		holds(what+", behind "+update.name, d, want)
	}

	gone := some[K](1, pairs/2)
	wanted := repeated(structures.Deleted, len(gone))
	equal(what+": Delete", wanted, must(d.Delete(ctx, gone)))
	equal(what+": Delete again", repeated(structures.Absent, len(gone)), must(d.Delete(ctx, gone)))
	for _, key := range gone {
		delete(want, key)
	}
	return want
}

// batches compares mixed batches, and what they leave.
func batches[K, V structures.Number](what string, d structures.Dictionary[K, V], want map[K]V) {
	known := slices.Sorted(maps.Keys(want))
	first, last := known[0], known[len(known)-1]
	b := structures.Batch[K, V]{
		Kinds:  []structures.Kind{structures.Find, structures.Insert, structures.Delete},
		Keys:   []K{first, last + 1, last},
		Values: []V{0, 9, 0},
	}
	r := must(d.Apply(ctx, b))
	equal(what+": Apply", []structures.Status{structures.Found, structures.Inserted, structures.Deleted}, r.Status)
	equal(what+": a value of Apply", want[first], r.Values[0])
	delete(want, last)
	want[last+1] = 9
	check(d.Put(ctx, last, 8))
	want[last] = 8
}

// holds compares a dictionary with a map, by all that reads it.
func holds[K, V structures.Number](what string, d structures.Dictionary[K, V], want map[K]V) {
	equal(what+": Len", uint64(len(want)), must(d.Len(ctx)))
	keys := some[K](0, 4*pairs-1)
	values, found := must2(d.Find(ctx, keys))
	for i, key := range keys[:3] {
		value, there, err := d.Get(ctx, key)
		equal(what+": Get", []any{values[i], found[i], nil}, []any{value, there, err})
	}
	found2, values2 := make([]bool, len(keys)), make([]V, len(keys))
	check(d.FindInto(ctx, keys, values2, found2))
	wanted, there := make([]V, len(keys)), make([]bool, len(keys))
	for i, key := range keys {
		wanted[i], there[i] = want[key]
	}
	equal(what+": Find", wanted, values)
	equal(what+": found by Find", there, found)
	equal(what+": FindInto", wanted, values2)
	equal(what+": found by FindInto", there, found2)
	all, chunks := map[K]V{}, map[K]V{}
	for pair, err := range d.All(ctx) {
		check(err)
		all[pair.Key] = pair.Value
	}
	for part, err := range d.Chunks(ctx) {
		check(err)
		for i, key := range part.Keys {
			chunks[key] = part.Values[i]
		}
	}
	equal(what+": All", want, all)
	equal(what+": Chunks", want, chunks)
}

// save is a dictionary as a file has it.
func save[K, V structures.Number](what string, d structures.Dictionary[K, V]) *bytes.Buffer {
	var saved bytes.Buffer
	equal(what+": the length of Save", must(d.Save(ctx, &saved)), int64(saved.Len()))
	return &saved
}

// clear empties a dictionary and closes it.
func clear[K, V structures.Number](what string, d structures.Dictionary[K, V], m structures.Metrics) {
	equal(what+": updates in Metrics", true, m.Updates.Operations > 0)
	if structures.WidthOf[K]() == structures.Bits32 { // the kernels of 64 bits take as long
		check(d.Prepare(ctx))
	}
	check(d.Clear(ctx))
	holds(what+", behind Clear", d, map[K]V{})
	check(d.Close())
}

// must2 are the results of a call that doesn't fail.
func must2[A, B any](a A, b B, err error) (A, B) {
	check(err)
	return a, b
}

// pairsFrom are pairs of equal numbers.
func pairsFrom[K, V structures.Number](first, n int) map[K]V {
	all := map[K]V{}
	for i := first; i < first+n; i++ {
		all[K(i)] = V(i)
	}
	return all
}

// numbersOfChanges are how many changes are asked for at once.
var numbersOfChanges = []int{4, 198, 20_000}
