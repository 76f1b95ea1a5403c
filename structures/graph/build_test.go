package graph_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/test/graphoracle"
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
