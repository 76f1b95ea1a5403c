package graph_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/test/graphoracle"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
	"pgregory.net/rapid"
)

// A graph that is built of edges in one go, from Go slices or of rows, is what it is when they come in batches; and
// goes on as such.
func TestBuild(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		graphoracle.EachSort(t, func(t *testing.T, o Options) {
			rapid.Check(t, func(rt *rapid.T) {
				o := o
				o.Seed = rapid.Uint32().Draw(rt, "seed")
				extent := uint32(rapid.SampledFrom([]int{5, 60, 2000}).Draw(rt, "extent"))
				e := graphoracle.Batch(rt, o, extent)
				g, err := Build(t.Context(), d, e, o)
				require.NoError(rt, err)
				defer func() { require.NoError(rt, g.Close()) }()
				w := graphoracle.New(o)
				statuses := make([]structures.Status, len(e.From))
				for i := range e.From { // they are not asked for
					weight := uint32(0)
					if o.Weighted {
						weight = e.Weights[i]
					}
					statuses[i] = w.Update(structures.Insert, e.From[i], e.To[i], weight)
					w.Appear(e.From[i])
					w.Appear(e.To[i])
				}
				requireSame(rt, t, g, w)
				copied(rt, t.Context(), t, d, g, w)
				for range 2 {
					step(rt, t, g, w, extent)
				}
				requireSame(rt, t, g, w)
			})
		})
	})
}

// copied requires that a graph made of another one's rows is the same.
func copied(rt *rapid.T, ctx context.Context, t *testing.T, d *vk.Device, g *Graph, w *graphoracle.Oracle) {
	rows, err := g.CSR(ctx, false)
	require.NoError(rt, err)
	defer func() { require.NoError(rt, rows.Close()) }()
	o := w.O
	o.Vertices = 0
	other, err := Build(ctx, d, rows, o)
	require.NoError(rt, err)
	defer func() { require.NoError(rt, other.Close()) }()
	requireSame(rt, t, other, w)
}

// Edges that are there many times: the last weight stays, and vertices get the buckets that their degrees need. One
// edge is so often there that its arcs can't be compared with each other.
func TestBuildOfEqualEdges(t *testing.T) {
	pass.OneDriver(t, "SwiftShader's width is one of lavapipe's")
	d := testdevice.Open(t)
	for _, directed := range []bool{true, false} {
		o := Options{Directed: directed, Weighted: true, Vertices: 100}
		var once Edges
		for i := range uint32(2000) { // hubs, too
			if from, to := i*i%97, i%89; from != to && (directed || from < to) {
				once.From, once.To = append(once.From, from), append(once.To, to)
				once.Weights = append(once.Weights, i)
			}
		}
		for name, often := range map[string]func(i int) int{
			"each":     func(int) int { return 10 },
			"one":      func(i int) int { return 1 + 5000*max(0, 1-i) },
			"some":     func(i int) int { return 1 + i%7/6 },
			"too many": func(i int) int { return 1 + 100_000*max(0, 1-i) },
			"few":      func(i int) int { return 1 + 550*max(0, 1-i) }, // fewer than a quarter of all
		} {
			var e Edges
			for round := range 100_001 {
				for i := range once.From {
					if round < often(i) {
						e.From, e.To = append(e.From, once.From[i]), append(e.To, once.To[i])
						e.Weights = append(e.Weights, uint32(1000*round+i))
					} else if round > 9 && i > 0 {
						break
					}
				}
			}
			g, err := Build(t.Context(), d, e, o)
			require.NoError(t, err, name)
			w := graphoracle.New(o)
			for i := range e.From {
				w.Update(structures.Insert, e.From[i], e.To[i], e.Weights[i])
			}
			requireSame(t, t, g, w)
			want, err := Build(t.Context(), d, once, o)
			require.NoError(t, err)
			wanted, err := want.Inspect().Stats(t.Context())
			require.NoError(t, err)
			stats, err := g.Inspect().Stats(t.Context())
			require.NoError(t, err)
			require.LessOrEqual(t, float64(stats.Buckets), 1.4*float64(wanted.Buckets), name)
			require.LessOrEqual(t, stats.Bytes, 2*wanted.Bytes, name)
			require.NoError(t, g.Close())
			require.NoError(t, want.Close())
		}
	}
}

// Buckets of many arcs are no sign that some are equal: the build does not start again.
func TestBuildOfLongBuckets(t *testing.T) {
	pass.OneDriver(t, "SwiftShader's width is one of lavapipe's")
	d := testdevice.Open(t)
	var e Edges
	for i := range uint32(20_000) {
		e.From, e.To = append(e.From, i%7), append(e.To, 7+i)
	}
	g, err := Build(t.Context(), d, e, Options{Directed: true, Load: 10, Timed: true})
	require.NoError(t, err)
	defer g.Close()
	stats, err := g.Inspect().Stats(t.Context())
	require.NoError(t, err)
	require.Greater(t, stats.Longest, 5, "slabs of a bucket")
	fills := 0
	for _, timing := range stats.Timings {
		if timing.Label == "keys" {
			fills++
		}
	}
	require.Equal(t, 1, fills)
	_, edges, err := g.Size(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, len(e.From), edges)
}

// upTo returns the numbers from 0 to n - 1.
func upTo(n int) (all []uint32) {
	for i := range uint32(n) {
		all = append(all, i)
	}
	return all
}

// Rows without hubs are brought into the order of their buckets vertex by vertex. Those with a hub are sorted, and
// those of which loops are left out, too.
func TestBuildOfRowsInOrder(t *testing.T) {
	pass.OneDriver(t, "SwiftShader's width is one of lavapipe's")
	d := testdevice.Open(t)
	for name, c := range map[string]struct {
		more  Edges
		loops bool
		sorts int
	}{
		"in order": {},
		"no hub":   {more: Edges{From: slices.Repeat([]uint32{300}, 128), To: upTo(128)}},
		// With weights, 16 arcs have two buckets. At 16 lanes, a row is as long as the subgroup, and one is longer.
		"16 and 17": {more: Edges{From: append(slices.Repeat([]uint32{300}, 16), slices.Repeat([]uint32{301}, 17)...),
			To: append(upTo(16), upTo(17)...)}},
		"a hub":        {more: Edges{From: slices.Repeat([]uint32{300}, 129), To: upTo(129)}, sorts: 1},
		"loops":        {more: Edges{From: []uint32{7}, To: []uint32{7}}, loops: true},
		"without loop": {more: Edges{From: []uint32{7}, To: []uint32{7}}, sorts: 1},
	} {
		for _, weighted := range []bool{false, true} {
			o := Options{Directed: true, SelfLoops: c.loops, Weighted: weighted, Timed: true}
			var e Edges
			for i := range uint32(2000) {
				e.From, e.To = append(e.From, i*7%300), append(e.To, (i*7%300+1+i%13)%300)
			}
			e.From, e.To = append(e.From, c.more.From...), append(e.To, c.more.To...)
			if weighted {
				e.Weights = upTo(len(e.From))
			}
			rows, err := BuildCSR(t.Context(), d, e, CSROptions{})
			require.NoError(t, err)
			g, err := Build(t.Context(), d, rows, o)
			require.NoError(t, err, name)
			w := graphoracle.New(o)
			for i := range e.From {
				weight := uint32(0)
				if weighted {
					weight = e.Weights[i]
				}
				w.Update(structures.Insert, e.From[i], e.To[i], weight)
			}
			requireSame(t, t, g, w)
			stats, err := g.Inspect().Stats(t.Context())
			require.NoError(t, err)
			sorts := 0
			for _, timing := range stats.Timings {
				if timing.Label == "sort" {
					sorts++
				}
			}
			require.Equal(t, c.sorts, sorts, name)
			require.NoError(t, g.Close())
			require.NoError(t, rows.Close())
		}
	}
}

// Rows that a program made may have equal arcs.
func TestBuildOfRowsWithEqualArcs(t *testing.T) {
	pass.OneDriver(t, "SwiftShader's width is one of lavapipe's")
	d := testdevice.Open(t)
	for _, often := range []int{2, 3000} {
		targets := slices.Concat(slices.Repeat([]uint32{1}, often), []uint32{2, 3, 0, 2})
		offsets := []uint32{0, uint32(often + 2), uint32(often + 4), uint32(often + 4), uint32(often + 4)}
		rows, err := NewCSR(t.Context(), d, Rows{Vertices: 4, Arcs: len(targets),
			Offsets: testdevice.Upload(t, d, offsets), Targets: testdevice.Upload(t, d, targets)})
		require.NoError(t, err)
		o := Options{Directed: true}
		g, err := Build(t.Context(), d, rows, o)
		require.NoError(t, err)
		w := graphoracle.New(o)
		for v := range 4 {
			for _, to := range targets[offsets[v]:offsets[v+1]] {
				w.Update(structures.Insert, uint32(v), to, 0)
				w.Appear(to)
			}
		}
		requireSame(t, t, g, w)
		require.NoError(t, g.Close())
	}
}
