package main

import (
	"bytes"
	"maps"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// snapshots compares snapshots with what the tree held.
func snapshots[K, V structures.Number](what string, t *btree.Tree[K, V], want map[K]V) {
	s := must(t.Snapshot(ctx))
	held := maps.Clone(want)
	keys, values := some[K](2*pairs, 30), some[V](77, 30)
	must(t.Insert(ctx, keys, values))
	for i, key := range keys {
		want[key] = values[i]
	}
	queries(what+", at a snapshot", s, held)
	queriesOn(what+", at a snapshot", s.On, held)
	equal(what+": Len of a snapshot", uint64(len(held)), must(s.Len(ctx)))
	again := must(btree.SnapshotAt(ctx, t, s.Time()))
	equal(what+": the time of At", s.Time(), again.Time())
	queries(what+", at a time", again, held)
	check(again.Close())

	var saved bytes.Buffer
	must(s.Save(ctx, &saved))
	loaded := must(btree.Load[K, V](ctx, device, &saved, btree.Options{MaxBytes: oneSuper}))
	holds(what+", loaded from a snapshot", loaded, held)
	check(loaded.Close())
	versions := must(t.Inspect().Versions(ctx))
	equal(what+": snapshots of Versions", 1, versions.Snapshots)
	most := 0
	for _, node := range must(t.Inspect().Nodes(ctx)) {
		if node.Level == 0 {
			most = max(most, len(must(t.Inspect().History(ctx, node)).Versions))
		}
	}
	equal(what+": versions of a leaf", 1, most)
	recorded(what, t, s)
	check(s.Close())
}

// recorded calls what records on a stream: it changes nothing.
func recorded[K, V structures.Number](what string, t *btree.Tree[K, V], older *btree.Snapshot[K, V]) {
	onStream(func(s *vk.Stream) {
		kernels := 0
		record := func(btree.Description) error {
			kernels++
			return nil
		}
		check(older.InShaders(s, record))
		check(t.InShaders().On(s, btree.Moving{Updates: 1, Snapshots: 1}, record))
		equal(what+": kernels of On", 2, kernels)
		newer := must(btree.SnapshotOn(s, t))
		d := btree.DeviceDiff{
			Keys: must(vk.NewBuffer[uint32](device, 2*pairs)), Total: must(vk.NewBuffer[uint32](device, 1)),
		}
		check(btree.DiffOn(s, older, newer, d))
		check(s.Wait(ctx))
		changed := 0
		for _, err := range btree.Diff(ctx, older, newer) {
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
