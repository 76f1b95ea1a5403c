package main

import (
	"bytes"
	"maps"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/mvbtree"
	"github.com/vkds/vkds/vk"
)

func mvBTree[K, V structures.Number]() {
	what := name[K, V]("mvbtree")
	t := must(mvbtree.New[K, V](ctx, device, mvbtree.Options{}))
	want := updates(what, t)
	batches(what, t, want)
	holds(what, t, want)
	queries(what, t, want)
	queriesOn(what, t, want)
	updatesOn(what, t, want)
	appliedOn(what, t, want)
	inShaders(what, t)
	asTree(what, t, want)
	loaded := must(mvbtree.Load[K, V](ctx, device, save(what, t), mvbtree.Options{}))
	holds(what+", loaded", loaded, want)
	check(loaded.Close())
	snapshots(what, t, want)
	deleteRange(what, t, want)
	clear(what, t)
}

// snapshots compares snapshots with what the tree held.
func snapshots[K, V structures.Number](what string, t *mvbtree.Tree[K, V], want map[K]V) {
	s := must(t.Snapshot(ctx))
	held := maps.Clone(want)
	keys, values := some[K](2*pairs, 30), some[V](77, 30)
	must(t.Insert(ctx, keys, values))
	for i, key := range keys {
		want[key] = values[i]
	}
	queries(what+", at a snapshot", s, held)
	queriesOn(what+", at a snapshot", s, held)
	equal(what+": Len of a snapshot", uint64(len(held)), must(s.Len(ctx)))
	again := must(t.At(ctx, s.Time()))
	equal(what+": the time of At", s.Time(), again.Time())
	queries(what+", at a time", again, held)
	check(again.Close())

	var saved, written bytes.Buffer
	must(s.Save(ctx, &saved))
	must(s.WriteTo(&written))
	equal(what+": WriteTo of a snapshot", saved.Bytes(), written.Bytes())
	loaded := must(mvbtree.Load[K, V](ctx, device, &saved, mvbtree.Options{}))
	holds(what+", loaded from a snapshot", loaded, held)
	check(loaded.Close())
	versions := must(t.Versions(ctx))
	equal(what+": snapshots of Versions", 1, versions.Snapshots)
	most := 0
	for _, node := range must(t.Nodes(ctx)) {
		if node.Level == 0 {
			most = max(most, len(must(t.History(ctx, node)).Versions))
		}
	}
	equal(what+": versions of a leaf", 1, most)
	recorded(what, t, s)
	check(s.Close())
}

// recorded calls what records on a stream: it changes nothing.
func recorded[K, V structures.Number](what string, t *mvbtree.Tree[K, V], older *mvbtree.Snapshot[K, V]) {
	onStream(func(s *vk.Stream) {
		kernels := 0
		record := func(btree.Device) error {
			kernels++
			return nil
		}
		check(older.On(s, record))
		check(t.On(s, mvbtree.Moving{Updates: 1, Snapshots: 1}, record))
		equal(what+": kernels of On", 2, kernels)
		newer := must(t.SnapshotOn(s))
		d := mvbtree.DeviceDiff{
			Keys: must(vk.NewBuffer[uint32](device, 2*pairs)), Total: must(vk.NewBuffer[uint32](device, 1)),
		}
		check(mvbtree.DiffOn(s, older, newer, d))
		check(s.Wait(ctx))
		changed := 0
		for _, err := range mvbtree.Diff(ctx, older, newer) {
			check(err)
			changed++
		}
		equal(what+": DiffOn", uint32(changed), download(d.Total, 1)[0])
		equal(what+": there are changes", true, changed > 0)
		d.Keys.Free()
		d.Total.Free()
		check(newer.Close())
	})
}

func changesOfAllTypes() {
	for _, n := range []int{4, 198, 20_000} {
		changes[uint32, uint32](n)
		changes[uint64, uint64](n)
		changes[UserID, time.Duration](n)
		changes[int32, Celsius](n)
		changes[time.Duration, uint32](n)
		changedEdges(n)
	}
}

// changes compares Diff and Changes with n changes: half of them are new keys, a quarter other values, and the others
// deleted.
func changes[K, V structures.Number](n int) {
	what := name[K, V]("mvbtree")
	there := some[K](0, n/2)
	t := must(mvbtree.Build(ctx, device, there, some[V](1, n/2), mvbtree.Options{}))
	older := must(t.Snapshot(ctx))
	var want []mvbtree.Change[K, V]
	for i := range n {
		change := mvbtree.Change[K, V]{Key: K(i), Had: i < n/2, Has: i >= n/4}
		if change.Had {
			change.Old = V(i + 1)
		}
		if change.Has {
			change.New = V(i + 2)
		}
		want = append(want, change)
	}
	must(t.Delete(ctx, some[K](0, n/4)))
	must(t.Insert(ctx, some[K](n/4, n-n/4), some[V](n/4+2, n-n/4)))
	newer, since, err := t.Changes(ctx, older)
	check(err)
	var diff, changed []mvbtree.Change[K, V]
	for change, err := range since {
		check(err)
		changed = append(changed, change)
	}
	for change, err := range mvbtree.Diff(ctx, older, newer) {
		check(err)
		diff = append(diff, change)
	}
	equal(what+": Changes", want, changed)
	equal(what+": Diff", want, diff)
	check(older.Close())
	check(newer.Close())
	check(t.Close())
}

// changedEdges compares DiffEdges with n changes, of the same sorts.
func changedEdges(n int) {
	star := func(first, n, weight int) graph.Edges {
		return graph.Edges{From: make([]uint32, n), To: some[uint32](first, n), Weights: some[uint32](weight, n)}
	}
	g := must(graph.BuildOrdered(ctx, device, star(1, n/2, 1), graph.OrderedOptions{Weighted: true}))
	older := must(g.Snapshot(ctx))
	must(g.DeleteEdges(ctx, star(1, n/4, 0)))
	must(g.InsertEdges(ctx, star(1+n/4, n-n/4, n/4+2)))
	newer := must(g.Snapshot(ctx))
	var want, got []graph.EdgeChange
	for i := range n {
		change := graph.EdgeChange{Edge: graph.Edge{To: uint32(1 + i), Weight: uint32(i + 2)}, Kind: structures.Insert}
		switch {
		case i < n/4:
			change.Weight, change.Kind = uint32(i+1), structures.Delete
		case i >= n/2:
			change.Kind = structures.InsertUnique
		}
		want = append(want, change)
	}
	for change, err := range graph.DiffEdges(ctx, older, newer) {
		check(err)
		got = append(got, change)
	}
	equal("DiffEdges", want, got)
	check(older.Close())
	check(newer.Close())
	check(g.Close())
}
