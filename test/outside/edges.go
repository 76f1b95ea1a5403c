package main

import (
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/ordered"
)

func init() {
	parts = append(parts, part{"edges", func() {
		for _, n := range numbersOfChanges {
			changedEdges(n)
		}
	}})
}

// changedEdges compares ordered.Diff with n changes, of the same sorts.
func changedEdges(n int) {
	star := func(first, n, weight int) graph.Edges {
		return graph.Edges{From: make([]uint32, n), To: some[uint32](first, n), Weights: some[uint32](weight, n)}
	}
	o := ordered.Options{Weighted: true, Tree: btree.Options{MaxBytes: oneSuper}}
	g := must(ordered.Build(ctx, device, star(1, n/2, 1), o))
	older := must(g.Snapshot(ctx))
	must(g.DeleteEdges(ctx, star(1, n/4, 0)))
	must(g.InsertEdges(ctx, star(1+n/4, n-n/4, n/4+2)))
	newer := must(g.Snapshot(ctx))
	var want, got []ordered.Change
	for i := range n {
		change := ordered.Change{Edge: graph.Edge{To: uint32(1 + i), Weight: uint32(i + 2)}, Kind: structures.Insert}
		switch {
		case i < n/4:
			change.Weight, change.Kind = uint32(i+1), structures.Delete
		case i >= n/2:
			change.Kind = structures.InsertUnique
		}
		want = append(want, change)
	}
	for change, err := range ordered.Diff(ctx, older, newer) {
		check(err)
		got = append(got, change)
	}
	equal("ordered.Diff", want, got)
	check(older.Close())
	check(newer.Close())
	check(g.Close())
}
