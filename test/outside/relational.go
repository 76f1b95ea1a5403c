package main

import (
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/structures/relational"
)

func init() {
	parts = append(parts,
		part{"relational, 32 bits", onRelational[uint64, uint32, uint32]},
		part{"relational, 64 bits", onRelational[int64, UserID, int64]},
		part{"relational, named types", onRelational[float64, time.Duration, Celsius]},
	)
}

func onRelational[S, K, V structures.Number]() {
	what := name[K, V]("relational")
	r := must(relational.New(device, relational.Options{}))
	keys, values := make([]K, 1000), make([]V, 1000)
	sums, counts := map[K]S{}, map[K]uint64{}
	for i := range keys {
		keys[i], values[i] = K(i*i%37), V(i)
		sums[keys[i]] += S(i)
		counts[keys[i]]++
	}
	ask := relational.Sums | relational.Mins | relational.Maxs | relational.Means
	g := must(relational.Group[S](ctx, r, keys, values, ask))
	gotSums, gotCounts := map[K]S{}, map[K]uint64{}
	for i, k := range g.Keys {
		gotSums[k], gotCounts[k] = g.Sums[i], g.Counts[i]
	}
	equal(what+", sums", sums, gotSums)
	equal(what+", counts", counts, gotCounts)
	equal(what+", least", V(0), g.Mins[0])
	distinct, numbers, err := relational.Distinct(ctx, r, keys)
	check(err)
	equal(what+", distinct", g.Keys, distinct)
	equal(what+", numbers", g.Counts, numbers)
	lefts, rights, err := relational.Join(ctx, r, distinct, keys, relational.Inner)
	check(err)
	equal(what+", joined", len(keys), len(lefts))
	for i, left := range lefts {
		equal(what+", row", distinct[left], keys[rights[i]])
	}
	top, rows, err := relational.TopK(ctx, r, values, 3)
	check(err)
	equal(what+", top", []V{999, 998, 997}, top)
	equal(what+", rows of the top", []int32{999, 998, 997}, rows)
	equal(what+", type", structures.Float[V](), primitives.ValueTypeOf[V]() == primitives.Float)
	check(r.Close())
}
