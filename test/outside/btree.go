package main

import (
	"maps"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
)

func bTree[K, V structures.Number]() {
	what := name[K, V]("btree")
	t := must(btree.New[K, V](ctx, device, btree.Options{}))
	want := updates(what, t)
	batches(what, t, want)
	holds(what, t, want)
	queries(what, t, want)
	loaded := must(btree.Load[K, V](ctx, device, save(what, t), btree.Options{}))
	holds(what+", loaded", loaded, want)
	check(loaded.Close())

	keys, values := must2(t.Export(ctx))
	equal(what+": keys of Export", slices.Sorted(maps.Keys(want)), keys)
	built := must(btree.Build(ctx, device, keys, values, btree.Options{}))
	check(built.Compact(ctx, 1))
	check(built.Reserve(ctx, 1000))
	check(built.Grow(ctx, 10))
	check(built.Check(ctx))
	equal(what+": keys of Stats", uint64(len(want)), must(built.Stats(ctx)).Pairs)
	holds(what+", built", built, want)
	check(built.Close())

	deleteRange(what, t, want)
	clear(what, t)
}
