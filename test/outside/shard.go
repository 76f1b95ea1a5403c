package main

import (
	"bytes"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/host"
	"github.com/vkds/vkds/structures/shard"
)

func init() {
	parts = append(parts,
		part{"shards, 32 bits", onShards[uint32, uint32]},
		part{"shards, 64 bits", onShards[UserID, int64]},
		part{"shards, named types", onShards[time.Duration, Celsius]},
	)
}

func onShards[K, V structures.Number]() {
	what := name[K, V]("shards")
	one := must(btree.New[K, V](ctx, device, btree.Options{MaxBytes: oneSuper}))
	other := must(btree.New[K, V](ctx, device, btree.Options{MaxBytes: oneSuper}))
	tree := must(shard.NewTree(ctx, one, other))
	table := must(shard.NewMap(ctx, host.NewMap[K, V](), host.NewMap[K, V](), host.NewMap[K, V]()))
	for _, d := range []structures.Dictionary[K, V]{tree, table} {
		want := updates(what, d)
		batches(what, d, want)
		holds(what, d, want)
	}
	check(table.Prepare(ctx))
	want := map[K]V{}
	for pair, err := range table.All(ctx) {
		check(err)
		want[pair.Key] = pair.Value
	}
	for part, err := range table.Chunks(ctx) {
		check(err)
		for _, key := range part.Keys {
			equal(what+": ShardOf", true, table.ShardOf(key) < 3)
		}
	}
	queries(what, tree, want)
	check(tree.Rebalance(ctx))
	queries(what+", evened out", tree, want)
	at := must(tree.Snapshot(ctx))
	must(tree.Delete(ctx, some[K](1, 30)))
	queries(what+", at a snapshot", at, want)
	equal(what+": Len of a snapshot", uint64(len(want)), must(at.Len(ctx)))
	saved := save(what, table)
	var file bytes.Buffer
	must(at.Save(ctx, &file))
	check(at.Close())
	loaded := must(host.LoadMap[K, V](ctx, &file))
	holds(what+", loaded from a snapshot", loaded, want)
	check(loaded.Close())
	check(table.Clear(ctx))
	check(table.Load(ctx, saved))
	holds(what+", loaded", table, want)
	check(tree.Clear(ctx))
	check(tree.Load(ctx, save(what, table)))
	deleteRange(what, tree, want)
	check(tree.Close())
	check(table.Close())
}
