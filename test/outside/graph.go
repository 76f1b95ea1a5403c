package main

import (
	"bytes"
	"slices"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
)

func init() {
	parts = append(parts,
		part{"named graph, 32 bits", named[uint32]},
		part{"named graph, 64 bits", named[UserID]},
		part{"named graph, named types", named[Celsius]},
		part{"named graph, signed", named[time.Duration]},
	)
}

// named compares a graph whose vertices have numbers of some type for names.
func named[ID structures.Number]() {
	what := name[ID, uint32]("named graph")
	g := must(graph.NewNamed[ID](ctx, device, graph.Options{Weighted: true, Directed: true, MaxBytes: oneSuper}))
	star := func(first, n, weight int) graph.NamedEdges[ID] {
		return graph.NamedEdges[ID]{
			From: slices.Repeat([]ID{5}, n), To: some[ID](first, n), Weights: some[uint32](weight, n),
		}
	}
	equal(what+": InsertVertices", repeated(structures.Inserted, 3), must(g.InsertVertices(ctx, some[ID](900, 3))))
	equal(what+": InsertEdges", repeated(structures.Inserted, 50), must(g.InsertEdges(ctx, star(10, 50, 1))))
	status := must(g.Update(ctx, structures.InsertAdd, star(10, 50, 1)))
	equal(what+": Update", repeated(structures.Assigned, 50), status)
	equal(what+": DeleteEdges", repeated(structures.Deleted, 10), must(g.DeleteEdges(ctx, star(10, 10, 0))))
	count, edges := must2(g.Graph().Size(ctx))
	equal(what+": Size", []uint64{54, 40}, []uint64{uint64(count), edges})

	weights, found := must2(g.FindEdges(ctx, star(10, 50, 0)))
	targets := some[ID](10, 50)
	for i, to := range targets {
		there := to >= 20
		want := uint32(0)
		if there {
			want = 2 * uint32(to-9)
		}
		equal(what+": FindEdges", want, weights[i])
		equal(what+": found by FindEdges", there, found[i])
	}
	offsets, next, costs, err := g.Neighbors(ctx, []ID{5, 10})
	check(err)
	equal(what+": offsets of Neighbors", []int{0, 40, 40}, offsets)
	for i, to := range next {
		equal(what+": weights of Neighbors", 2*uint32(to-9), costs[i])
	}
	slices.Sort(next)
	equal(what+": Neighbors", ascending[ID](20, 40), next)

	vertices, there := must2(g.Numbers(ctx, targets))
	equal(what+": found by Numbers", slices.Repeat([]bool{true}, len(targets)), there)
	for i, v := range vertices {
		back, is := must2(g.Name(ctx, v))
		equal(what+": Name", targets[i], back)
		equal(what+": found by Name", true, is)
	}
	equal(what+": DeleteVertices", repeated(structures.Deleted, 3), must(g.DeleteVertices(ctx, some[ID](900, 3))))
	left, _ := must2(g.Graph().Size(ctx))
	equal(what+": vertices after DeleteVertices", 51, left)

	var saved bytes.Buffer
	equal(what+": the length of Save", must(g.Save(ctx, &saved)), int64(saved.Len()))
	check(g.Close())
	loaded := must(graph.LoadNamed[ID](ctx, device, &saved, graph.Options{MaxBytes: oneSuper}))
	weights2, found2 := must2(loaded.FindEdges(ctx, star(10, 50, 0)))
	equal(what+": FindEdges, loaded", weights, weights2)
	equal(what+": found by FindEdges, loaded", found, found2)
	check(loaded.Close())
}

// ascending are n numbers from a first one on, in order.
func ascending[T structures.Number](first, n int) []T {
	all := some[T](first, n)
	slices.Sort(all)
	return all
}
