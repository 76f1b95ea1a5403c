package main

import (
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
)

func init() {
	parts = append(parts, part{"changes", func() {
		for _, n := range numbersOfChanges {
			changes[uint32, uint32](n)
			changes[uint64, uint64](n)
			changes[UserID, time.Duration](n)
			changes[int32, Celsius](n)
			changes[time.Duration, uint32](n)
		}
	}})
}

// changes compares Diff and Changes with n changes: half of them are new keys, a quarter other values, and the others
// deleted.
func changes[K, V structures.Number](n int) {
	what := name[K, V]("snapshots")
	there := some[K](0, n/2)
	t := must(btree.Build(ctx, device, there, some[V](1, n/2), btree.Options{MaxBytes: oneSuper}))
	older := must(t.Snapshot(ctx))
	var want []btree.Change[K, V]
	for i := range n {
		change := btree.Change[K, V]{Key: K(i), Had: i < n/2, Has: i >= n/4}
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
	var diff, changed []btree.Change[K, V]
	for change, err := range since {
		check(err)
		changed = append(changed, change)
	}
	for change, err := range btree.Diff(ctx, older, newer) {
		check(err)
		diff = append(diff, change)
	}
	equal(what+": Changes", want, changed)
	equal(what+": Diff", want, diff)
	check(older.Close())
	check(newer.Close())
	check(t.Close())
}
