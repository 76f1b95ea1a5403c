package graph_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/test/graphoracle"
	"github.com/vkds/vkds/vk"
	"pgregory.net/rapid"
)

// requireSame requires that a graph holds what the oracle does, by every way of asking, and that its memory is sound.
func requireSame(t rapid.TB, tt *testing.T, g *Graph, w *graphoracle.Oracle) {
	ctx := tt.Context()
	require.NoError(t, g.Inspect().Check(ctx))
	vertices, edges, err := g.Size(ctx)
	require.NoError(t, err)
	require.Equal(t, w.Vertices(), vertices, "vertices")
	require.Equal(t, w.Edges(), edges, "edges")

	ids := make([]uint32, w.Extent+3)
	want := make([]map[uint32]uint32, len(ids))
	for i := range ids {
		ids[i], want[i] = uint32(i), map[uint32]uint32{}
	}
	for a, weight := range w.Arcs {
		want[a.From][a.To] = weight
	}
	degrees, err := g.Degrees(ctx, ids)
	require.NoError(t, err)
	n, err := g.Neighbors(ctx, ids)
	require.NoError(t, err)
	offsets, targets, weights := graphoracle.Slices(t, ctx, func() (*CSR, error) { return g.CSR(ctx, true) })
	require.Len(t, offsets, w.Extent+1)
	for i := range ids {
		require.EqualValues(t, len(want[i]), degrees[i], "degree of %d", i)
		to, of := n.Of(i)
		got := map[uint32]uint32{}
		for j, v := range to {
			if got[v] = 0; of != nil {
				got[v] = of[j]
			}
		}
		require.Equal(t, want[i], got, "neighbours of %d", i)
		require.Len(t, to, len(got))
		if i >= w.Extent {
			continue
		}
		row := targets[offsets[i]:offsets[i+1]]
		require.Len(t, row, len(want[i]))
		require.True(t, slices.IsSorted(row))
		for j, v := range row {
			require.Contains(t, want[i], v)
			if weights != nil {
				require.Equal(t, want[i][v], weights[int(offsets[i])+j])
			}
		}
	}
	all := 0
	for e, err := range g.AllEdges(ctx) {
		require.NoError(t, err)
		weight, there := w.Arcs[graphoracle.Arc{From: e.From, To: e.To}]
		require.True(t, there)
		require.Equal(t, weight, e.Weight)
		all++
	}
	require.EqualValues(t, w.Edges(), all)
	for v, err := range g.AllVertices(ctx) {
		require.NoError(t, err)
		require.False(t, w.Deleted[v])
		vertices--
	}
	require.Zero(t, vertices)
}

// Programs of batches of all kinds, of edges and of vertices, come to what they come to in Go's maps.
func TestOracle(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		graphoracle.EachSort(t, func(t *testing.T, o Options) {
			rapid.Check(t, func(rt *rapid.T) {
				o := o
				o.Seed = rapid.Uint32().Draw(rt, "seed")
				o.Vertices = rapid.SampledFrom([]int{0, 10, 300}).Draw(rt, "vertices")
				o.Tile = rapid.SampledFrom([]int{0, 0, min(8, d.SubgroupSize())}).Draw(rt, "tile")
				o.MaxLoad = rapid.SampledFrom([]float64{0, 1}).Draw(rt, "load")
				g, err := New(t.Context(), d, o)
				require.NoError(rt, err)
				defer g.Close()
				w := graphoracle.New(o)
				extent := uint32(rapid.SampledFrom([]int{5, 60, 700}).Draw(rt, "extent"))
				for range rapid.IntRange(1, 6).Draw(rt, "batches") {
					step(rt, t, g, w, extent)
				}
				requireSame(rt, t, g, w)
			})
		})
	})
}

// step does one batch, or some upkeep.
func step(rt *rapid.T, t *testing.T, g *Graph, w *graphoracle.Oracle, extent uint32) {
	ctx := t.Context()
	ids := rapid.SliceOfN(rapid.Uint32Range(0, 2*extent), 1, 60)
	switch rapid.IntRange(0, 11).Draw(rt, "what") {
	case 0:
		some := ids.Draw(rt, "inserted")
		got, err := g.InsertVertices(ctx, some)
		require.NoError(rt, err)
		w.InsertVertices(rt, some, got)
	case 1, 2:
		some := ids.Draw(rt, "deleted")
		got, err := g.DeleteVertices(ctx, some)
		require.NoError(rt, err)
		w.DeleteVertices(rt, some, got)
	case 3:
		require.NoError(rt, Flush(ctx, g))
	case 4:
		require.NoError(rt, g.Rehash(ctx))
	case 5:
		requireSame(rt, t, g, w)
	default:
		kind := rapid.SampledFrom(graphoracle.Kinds(w.O)).Draw(rt, "kind")
		e := graphoracle.Batch(rt, w.O, extent)
		got := make([]structures.Status, len(e.From))
		require.NoError(rt, g.UpdateEdgesInto(ctx, kind, e, got))
		w.Updates(rt, kind, e, got)
	}
}
