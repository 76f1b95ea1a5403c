package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/vkds/vkds/internal/tool/draw"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/vk"
)

// samples are the work of --sample, in the order of the help; that of graph is sampleGraph's.
var samples = []struct {
	name string
	work func(rng *rand.Rand) *work
}{
	{"split", func(rng *rand.Rand) *work { // leaves of an empty tree fill up and are split
		w := &work{title: "60 insertions into an empty tree", structure: "btree", steps: make([]step, 1)}
		for _, k := range rng.Perm(60) {
			w.steps[0].put(structures.Insert, uint64(k+1), uint64(k))
		}
		return w
	}},
	{"latches", func(*rand.Rand) *work { // all want the last leaf
		w := &work{title: "1,000 ascending keys", structure: "btree", steps: make([]step, 1)}
		for k := range uint64(1000) {
			w.steps[0].put(structures.Insert, k+1, k)
		}
		return w
	}},
	{"snapshots", func(rng *rand.Rand) *work { // batches change what snapshots see
		w := &work{title: "Batches of changes beside snapshots", structure: "btree"}
		for k := range uint64(60) {
			w.keys, w.values = append(w.keys, 2*k+1), append(w.values, k)
		}
		for range 3 {
			var s step
			for range 12 {
				s.put(structures.Insert, uint64(1+rng.IntN(120)), uint64(rng.IntN(100)))
				s.put(structures.Delete, uint64(1+rng.IntN(120)), 0)
			}
			w.steps = append(w.steps, step{between: "snapshot"}, s)
		}
		return w
	}},
	{"slabs", func(rng *rand.Rand) *work { // buckets get slabs more, and erased slots
		w := &work{title: "Insertions and deletions in a hash table", structure: "slabhash", capacity: 100,
			parameter: 2}
		for range 3 {
			var s step
			for range 80 {
				s.put(structures.Insert, uint64(1+rng.IntN(250)), uint64(rng.IntN(100)))
				s.put(structures.Delete, uint64(1+rng.IntN(250)), 0)
			}
			w.steps = append(w.steps, s)
		}
		return w
	}},
	{"rehash", func(rng *rand.Rand) *work { // a table that gets too full moves to more buckets
		w := &work{title: "A hash table that grows", structure: "slabhash", buckets: 4}
		keys := rng.Perm(1000)
		for n := 30; n <= 120; n *= 2 {
			var s step
			for _, k := range keys[:n] {
				s.put(structures.InsertUnique, uint64(k+1), uint64(n))
			}
			w.steps, keys = append(w.steps, s), keys[n:]
		}
		return w
	}},
	{"lsm", func(rng *rand.Rand) *work { // batches fill levels, which are merged, and a cleanup packs them
		w := &work{title: "Levels of an LSM fill up", structure: "lsm", parameter: 2048}
		for i := range 12 {
			var s step
			for range 2048 + 300*(i%3) {
				s.put(structures.Insert, uint64(rng.IntN(20_000)), uint64(i))
			}
			w.steps = append(w.steps, s)
		}
		w.steps = append(w.steps, step{between: "cleanup"})
		return w
	}},
}

func sampleNames() (names []string) {
	for _, s := range samples {
		names = append(names, s.name)
	}
	return append(names, "graph")
}

// sample makes the page of a sample.
func sample(ctx context.Context, g *global, name string, events int) (*draw.Page, error) {
	rng := rand.New(rand.NewPCG(1, 2)) // the same each time
	if name == "graph" {
		return sampleGraph(ctx, g, rng, events)
	}
	for _, s := range samples {
		if s.name == name {
			w := s.work(rng)
			w.key, w.value = keytype.Uint32.Format, keytype.Uint32.Format
			return w.trace(ctx, g, events)
		}
	}
	return nil, fmt.Errorf("--sample %s: there are %s", name, strings.Join(sampleNames(), ", "))
}

// sampleGraph has a graph in which some vertices have many neighbours.
func sampleGraph(ctx context.Context, g *global, rng *rand.Rand, events int) (*draw.Page, error) {
	ends := []uint32{0}
	var batches []graph.Edges
	for v := uint32(1); v <= 150; v++ {
		if v%50 == 1 {
			batches = append(batches, graph.Edges{})
		}
		b := &batches[len(batches)-1]
		for range 2 {
			u := ends[rng.IntN(len(ends))]
			b.From, b.To = append(b.From, u), append(b.To, v)
			ends = append(ends, u, v)
		}
	}
	return g.traced(events, "Edges into a graph", func(d *vk.Device, p *draw.Page) error {
		return traceGraph(ctx, d, p, slices.Clip(batches))
	})
}
