package main

import (
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
)

func init() {
	parts = append(parts,
		part{"btree, 32 bits", bTree[uint32, uint32]},
		part{"btree, 64 bits", bTree[time.Duration, Points]},
		part{"btree, named types", bTree[int32, Celsius]},
	)
}

func bTree[K, V structures.Number]() {
	what := name[K, V]("btree")
	t := must(btree.New[K, V](ctx, device, btree.Options{MaxBytes: oneSuper}))
	want := updates(what, t)
	batches(what, t, want)
	holds(what, t, want)
	queries(what, t, want)
	queriesOn(what, t.On, want)
	updatesOn(what, t.On, want)
	appliedOn(what, t.On, want)
	holds(what+", behind batches of streams", t, want)
	inShaders(what, t.InShaders())
	check(t.InShaders().Grow(ctx, 10))
	loaded := must(btree.Load[K, V](ctx, device, save(what, t), btree.Options{MaxBytes: oneSuper}))
	holds(what+", loaded", loaded, want)
	check(loaded.Close())
	built := must(btree.Build(ctx, device, some[K](0, pairs), some[V](0, pairs), btree.Options{MaxBytes: oneSuper}))
	holds(what+", built", built, pairsFrom[K, V](0, pairs))
	check(built.Close())
	asTree(what, t, t.On, want)
	check(t.Inspect().Check(ctx))
	stats, nodes := must(t.Inspect().Stats(ctx)), must(t.Inspect().Nodes(ctx))
	equal(what+": pairs of Stats", uint64(len(want)), stats.Pairs)
	equal(what+": Nodes", stats.Nodes, uint64(len(nodes)))
	snapshots(what, t, want)
	deleteRange(what, t, want)
	clear(what, t, t.Inspect().Metrics())
}
