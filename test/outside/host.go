package main

import (
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/host"
	"github.com/vkds/vkds/structures/sortedarray"
)

func init() {
	parts = append(parts,
		part{"host, 32 bits", onHost[uint32, uint32]},
		part{"host, 64 bits", onHost[UserID, int64]},
		part{"host, named types", onHost[time.Duration, Celsius]},
	)
}

func onHost[K, V structures.Number]() {
	what := name[K, V]("host")
	tree, table := host.NewTree[K, V](), host.NewMap[K, V]()
	check(table.Reserve(ctx, pairs))
	for _, d := range []structures.Dictionary[K, V]{tree, table} {
		want := updates(what, d)
		batches(what, d, want)
		holds(what, d, want)
		check(d.Prepare(ctx))
	}
	want := map[K]V{}
	for pair, err := range tree.All(ctx) {
		check(err)
		want[pair.Key] = pair.Value
	}
	queries(what, tree, want)
	then := must(tree.Copy(ctx))
	holds(what+", a snapshot", then, want)
	check(then.Close())
	// Both load what the other one, or a structure in GPU memory, has saved, and the other way round.
	array := must(sortedarray.Load[K, V](ctx, device, save(what, table), sortedarray.Options{}))
	loadedMap := must(host.LoadMap[K, V](ctx, save(what, tree)))
	loadedTree := must(host.LoadTree[K, V](ctx, save(what, array)))
	for _, d := range []structures.Dictionary[K, V]{array, loadedMap, loadedTree} {
		holds(what+", loaded", d, want)
		check(d.Close())
	}
	deleteRange(what, tree, want)
	holds(what+", behind DeleteRange", tree, want)
	for _, d := range []structures.Dictionary[K, V]{tree, table} {
		check(d.Clear(ctx))
		holds(what+", behind Clear", d, map[K]V{})
		check(d.Close())
	}
}
