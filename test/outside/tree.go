package main

import (
	"context"
	"maps"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// tree is what trees do and other dictionaries don't. This file imports no structure, so that a program has those of
// its own part alone.
type tree[K, V structures.Number] interface {
	structures.Dictionary[K, V]
	Compact(ctx context.Context, fill float64) error
	Reserve(ctx context.Context, n int) error
}

// treeOn is what trees do on a stream and other dictionaries don't.
type treeOn interface {
	Build(ctx context.Context, b structures.DeviceBatch) error
	Window(w structures.DeviceWindow) error
}

// asTree compares a tree, by what other dictionaries don't do.
func asTree[K, V structures.Number, On treeOn](what string, t tree[K, V], on func(*vk.Stream) On, want map[K]V) {
	known := slices.Sorted(maps.Keys(want))
	exported := make([]V, len(known))
	for i, key := range known {
		exported[i] = want[key]
	}

	keyWords, valueWords := columns[K, V]()
	b := must(structures.NewDeviceBatch(device, structures.PairWidth[K, V](), structures.Insert, len(known)))
	b.Status, b.Left = nil, nil
	keyWords.upload(b.Keys, known)
	valueWords.upload(b.Values, exported)
	w := must(structures.NewDeviceWindow(device, structures.PairWidth[K, V](), 1, 5))
	keyWords.upload(w.Ranges, []K{known[0], known[9]})
	onStream(func(s *vk.Stream) {
		check(on(s).Build(ctx, b))
		check(on(s).Window(w))
	})
	equal(what+": WindowOn", known[:5], keyWords.download(w.Keys, 5))
	equal(what+": counts of WindowOn", uint32(5), download(w.Counts, 1)[0])
	holds(what+", behind BuildOn", t, want)
	b.Free()
	w.Free()

	check(t.Compact(ctx, 1))
	check(t.Reserve(ctx, 1000))
	holds(what+", behind Compact", t, want)
}
