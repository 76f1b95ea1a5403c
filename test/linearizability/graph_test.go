package linearizability

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// graphRig is a graph on an open device.
type graphRig struct {
	rig
	graph *graph.Graph
	o     graph.Options
}

// edge is an edge as a key of histories; of undirected graphs it is the arc from the lesser end.
func edge(from, to uint32) uint64 { return uint64(from)<<32 | uint64(to) }

// edgeBatch is a batch of one kind, on a stream.
type edgeBatch struct {
	kind  structures.Kind
	s     *vk.Stream
	edges []operation
	on    graph.DeviceBatch
}

// pairsOfKinds are what two streams do at the same time. An edge of an undirected graph is two arcs, so that there the
// kinds have to come to the same in any order (Graph.UpdateOn).
func (r *graphRig) pairsOfKinds() [][2]structures.Kind {
	insert := structures.InsertUnique
	if r.o.Weighted {
		insert = structures.Insert
	}
	same := []structures.Kind{insert, structures.InsertUnique, structures.Delete}
	if r.o.Weighted {
		same = append(same, structures.InsertAdd, structures.InsertMin, structures.InsertMax)
	}
	var pairs [][2]structures.Kind
	for i, a := range same {
		pairs = append(pairs, [2]structures.Kind{a, a})
		for _, b := range same[:i] {
			if r.o.Directed {
				pairs = append(pairs, [2]structures.Kind{a, b})
			}
		}
	}
	return pairs
}

// weight is what an operation brings: of equal edges of an undirected graph the same, if the last or the first of them
// would count otherwise.
func (r *graphRig) weight(rng *rand.Rand, kind structures.Kind, key uint64, phase int) uint64 {
	switch {
	case !r.o.Weighted || kind == structures.Delete:
		return 0
	case r.o.Directed || kind.UpdatesInPlace():
		return uint64(rng.Uint32())
	}
	return key*7919 + uint64(phase)&r.ones()
}

// batch is a batch of operations on some edges, each of them a few times and mostly in neighbours.
func (r *graphRig) batch(rng *rand.Rand, kind structures.Kind, edges []uint64, phase int) *edgeBatch {
	b := &edgeBatch{kind: kind, s: testdevice.Stream(r.T, r.d)}
	for _, key := range edges {
		for range 1 + rng.IntN(4) {
			b.edges = append(b.edges, operation{kind, key, r.weight(rng, kind, key, phase) & r.ones()})
		}
	}
	for range len(b.edges) / 4 {
		i, j := rng.IntN(len(b.edges)), rng.IntN(len(b.edges))
		b.edges[i], b.edges[j] = b.edges[j], b.edges[i]
	}
	from, to, weights := make([]uint32, len(b.edges)), make([]uint32, len(b.edges)), make([]uint32, len(b.edges))
	for i, o := range b.edges {
		from[i], to[i], weights[i] = uint32(o.key>>32), uint32(o.key), uint32(o.value)
		if !r.o.Directed && rng.IntN(2) == 0 {
			from[i], to[i] = to[i], from[i]
		}
	}
	b.on = graph.DeviceBatch{Count: len(b.edges), From: put(&r.rig, from), To: put(&r.rig, to),
		Status: put(&r.rig, make([]uint8, (len(b.edges)+3)&^3)), Left: put(&r.rig, []uint32{0})}
	if r.o.Weighted && kind.Inserts() {
		b.on.Weights = put(&r.rig, weights)
	}
	return b
}

// do does batches at the same time, one a stream, and finishes them one after another; the history of their operations.
func (r *graphRig) do(phase int64, batches ...*edgeBatch) (history []porcupine.Operation) {
	for _, b := range batches {
		require.NoError(r, r.graph.On(b.s).Update(r.Context(), b.kind, b.on))
		_, err := b.s.Submit()
		require.NoError(r, err)
	}
	for _, b := range batches {
		require.NoError(r, b.s.Wait(r.Context()))
	}
	for _, b := range batches {
		require.NoError(r, r.graph.On(b.s).Finish(r.Context(), b.kind, b.on))
		status := get(&r.rig, b.on.Status)
		for i, o := range b.edges {
			out := outcome{status: structures.Status(status[i])}
			history = append(history, porcupine.Operation{Input: o, Output: out, Call: 2 * phase, Return: 2*phase + 1})
		}
		for _, x := range []interface{ Free() }{b.on.From, b.on.To, b.on.Weights, b.on.Status, b.on.Left} {
			x.Free()
		}
	}
	return history
}

// look adds what the graph holds of some edges, in both directions if it is undirected, and looks whether it is sound.
func (r *graphRig) look(edges []uint64, phase int64) (history []porcupine.Operation) {
	require.NoError(r, r.graph.Inspect().Check(r.Context()))
	var e graph.Edges
	for _, key := range edges {
		e.From, e.To = append(e.From, uint32(key>>32)), append(e.To, uint32(key))
	}
	weights, found, err := r.graph.FindEdges(r.Context(), e)
	require.NoError(r, err)
	if !r.o.Directed {
		back, also, err := r.graph.FindEdges(r.Context(), graph.Edges{From: e.To, To: e.From})
		require.NoError(r, err)
		require.Equal(r, weights, back)
		require.Equal(r, found, also)
	}
	for i, key := range edges {
		out := outcome{status: structures.Absent}
		if found[i] {
			out = outcome{status: structures.Found, value: uint64(weights[i])}
		}
		history = append(history, porcupine.Operation{Input: operation{structures.Find, key, 0}, Output: out,
			Call: 2 * phase, Return: 2*phase + 1})
	}
	return history
}

// edgesOfStreams are those that both streams work on, of a few vertices, and two sets of a hub's, by which it outgrows
// its buckets while they do.
func edgesOfStreams(rng *rand.Rand) (both, one, other []uint64) {
	const vertices, hub, leaves = 9, 100, 450
	for from := range uint32(vertices) {
		for to := from + 1; to < vertices; to++ {
			both = append(both, edge(from, to))
		}
		both = append(both, edge(from, hub))
	}
	rng.Shuffle(len(both), func(i, j int) { both[i], both[j] = both[j], both[i] })
	for i := range uint32(leaves) {
		one, other = append(one, edge(hub, 200+i)), append(other, edge(hub, 200+leaves+i))
	}
	return both, one, other
}

// Batches of one kind each, of two streams at the same time, on the same edges and on a hub's: per edge some order of
// their operations explains what each answers and what is there at last.
func TestEdgesOfStreams(t *testing.T) {
	pass.NarrowUnlessLong(t, "8 lanes have it with random delays, and the oracles of the graph have 16")
	for _, p := range protocols[:2] {
		for _, o := range []graph.Options{{Weighted: true, Directed: true}, {Directed: true}, {Weighted: true}, {}} {
			if !o.Weighted && len(p.options.Without) != 0 {
				continue // vertices alone take no 64-bit atomics
			}
			t.Run(fmt.Sprintf("%s,directed=%v,weighted=%v", p.name, o.Directed, o.Weighted), func(t *testing.T) {
				d := testdevice.Open(t, p.options)
				if o.Weighted && len(p.options.Without) == 0 && !d.Has(vk.Int64Atomics) {
					t.Skipf("%s has no 64-bit atomics", d.Info().Name)
				}
				r := &graphRig{rig: rig{T: t, d: d, form: form{set: !o.Weighted}}, o: o}
				r.rounds(func(seed uint64) { r.round(rand.New(rand.NewPCG(seed, 7))) })
			})
		}
	}
}

// round has some pairs of kinds done, one behind the other, in an order of its own.
func (r *graphRig) round(rng *rand.Rand) {
	var err error
	r.graph, err = graph.New(r.Context(), r.d, r.o)
	require.NoError(r, err)
	defer func() { require.NoError(r, r.graph.Close()) }()
	both, one, other := edgesOfStreams(rng)
	all := slices.Concat(both, one, other)
	const some = 6
	pairs := r.pairsOfKinds()
	rng.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	pairs = pairs[:min(some, len(pairs))]
	var history []porcupine.Operation
	for i, kinds := range pairs {
		history = append(history, r.do(int64(2*i), r.batch(rng, kinds[0], append(slices.Clone(both), one...), i),
			r.batch(rng, kinds[1], append(slices.Clone(both), other...), i))...)
		history = append(history, r.look(all, int64(2*i+1))...)
	}
	check(r.T, r.form, history)
}
