package main

import (
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/sortedarray"
)

func init() {
	parts = append(parts,
		part{"sortedarray, 32 bits", sortedArray[uint32, uint32]},
		part{"sortedarray, 64 bits", sortedArray[time.Duration, Points]},
		part{"sortedarray, named types", sortedArray[int32, Celsius]},
	)
}

func sortedArray[K, V structures.Number]() {
	what := name[K, V]("sortedarray")
	a := must(sortedarray.New[K, V](ctx, device, sortedarray.Options{}))
	want := updates(what, a)
	batches(what, a, want)
	holds(what, a, want)
	queries(what, a, want)
	queriesOn(what, a.On, want)
	updatesOn(what, a.On, want)
	holds(what+", behind batches of streams", a, want)
	loaded := must(sortedarray.Load[K, V](ctx, device, save(what, a), sortedarray.Options{}))
	holds(what+", loaded", loaded, want)
	check(loaded.Close())
	check(a.Reserve(ctx, 1000))
	a.Trim()
	equal(what+": pairs of Stats", uint64(len(want)), must(a.Inspect().Stats(ctx)).Pairs)
	built := must(sortedarray.Build(ctx, device, some[K](0, pairs), some[V](0, pairs), sortedarray.Options{}))
	holds(what+", built", built, pairsFrom[K, V](0, pairs))
	check(built.Close())
	deleteRange(what, a, want)
	clear(what, a, a.Inspect().Metrics())
}
