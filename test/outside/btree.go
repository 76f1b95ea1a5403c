package main

import (
	"context"
	"maps"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

func bTree[K, V structures.Number]() {
	what := name[K, V]("btree")
	t := must(btree.New[K, V](ctx, device, btree.Options{}))
	want := updates(what, t)
	batches(what, t, want)
	holds(what, t, want)
	queries(what, t, want)
	queriesOn(what, t, want)
	updatesOn(what, t, want)
	appliedOn(what, t, want)
	holds(what+", behind batches of streams", t, want)
	inShaders(what, t)
	loaded := must(btree.Load[K, V](ctx, device, save(what, t), btree.Options{}))
	holds(what+", loaded", loaded, want)
	check(loaded.Close())
	built := must(btree.Build(ctx, device, some[K](0, pairs), some[V](0, pairs), btree.Options{}))
	holds(what+", built", built, pairsFrom[K, V](0, pairs))
	check(built.Close())
	asTree(what, t, want)
	deleteRange(what, t, want)
	clear(what, t)
}

// tree is what trees do and other dictionaries don't.
type tree[K, V structures.Number] interface {
	structures.Dictionary[K, V]
	BuildOn(ctx context.Context, s *vk.Stream, u structures.DeviceBatch) error
	Check(ctx context.Context) error
	Compact(ctx context.Context, fill float64) error
	Export(ctx context.Context) (keys []K, values []V, err error)
	Grow(ctx context.Context, nodes int) error
	Nodes(ctx context.Context) ([]btree.Node[uint64], error)
	Reserve(ctx context.Context, n int) error
	Stats(ctx context.Context) (btree.Stats, error)
	WindowOn(s *vk.Stream, w structures.DeviceWindow) error
}

// asTree compares a tree, by what other dictionaries don't do.
func asTree[K, V structures.Number](what string, t tree[K, V], want map[K]V) {
	known := slices.Sorted(maps.Keys(want))
	exported, values := must2(t.Export(ctx))
	equal(what+": keys of Export", known, exported)

	keyWords, valueWords := columns[K, V]()
	b := must(structures.NewDeviceBatch(device, structures.Insert, 2*len(known)))
	b.Count, b.Status, b.Left = len(known), nil, nil
	keyWords.upload(b.Keys, exported)
	valueWords.upload(b.Values, values)
	w := must(structures.NewDeviceWindow(device, 2, 10))
	w.Count, w.Width = 1, 5
	keyWords.upload(w.Ranges, []K{known[0], known[9]})
	onStream(func(s *vk.Stream) {
		check(t.BuildOn(ctx, s, b))
		check(t.WindowOn(s, w))
	})
	equal(what+": WindowOn", known[:5], keyWords.download(w.Keys, 5))
	equal(what+": counts of WindowOn", uint32(5), download(w.Counts, 1)[0])
	holds(what+", behind BuildOn", t, want)
	b.Free()
	w.Free()

	check(t.Compact(ctx, 1))
	check(t.Reserve(ctx, 1000))
	check(t.Grow(ctx, 10))
	check(t.Check(ctx))
	stats := must(t.Stats(ctx))
	equal(what+": pairs of Stats", uint64(len(want)), stats.Pairs)
	equal(what+": Nodes", stats.Nodes, uint64(len(must(t.Nodes(ctx)))))
	holds(what+", behind Compact", t, want)
}
