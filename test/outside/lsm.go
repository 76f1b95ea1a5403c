package main

import (
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/lsm"
)

func lsmTree[K, V structures.Number]() {
	what := name[K, V]("lsm")
	l := must(lsm.New[K, V](ctx, device, lsm.Options{Batch: 32, Timed: true}))
	want := updates(what, l)
	batches(what, l, want)
	holds(what, l, want)
	queries(what, l, want)
	queriesOn(what, l, want)
	updatesOn(what, l, want)
	holds(what+", behind batches of streams", l, want)
	file := save(what, l)
	loaded := must(lsm.Load[K, V](ctx, device, file, lsm.Options{}))
	holds(what+", loaded", loaded, want)
	check(loaded.Close())
	check(l.Cleanup(ctx))
	equal(what+": stages of Timings", true, len(l.Timings()) > 0)
	equal(what+": pairs of Stats", uint64(len(want)), must(l.Stats(ctx)).Pairs)
	check(l.Maintain(ctx))
	check(l.Trim())
	check(l.Reserve(ctx, 1000))
	holds(what+", behind Cleanup", l, want)

	built := must(lsm.Build(ctx, device, some[K](0, pairs), some[V](0, pairs), lsm.Options{}))
	holds(what+", built", built, pairsFrom[K, V](0, pairs))
	check(built.Close())
	deleteRange(what, l, want)
	clear(what, l)
}

// pairsFrom are pairs of equal numbers.
func pairsFrom[K, V structures.Number](first, n int) map[K]V {
	all := map[K]V{}
	for i := first; i < first+n; i++ {
		all[K(i)] = V(i)
	}
	return all
}
