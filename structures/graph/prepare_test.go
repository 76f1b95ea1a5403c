package graph_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Behind Prepare no call on a graph makes a kernel, be it one that grows, deletes or is asked for rows.
func TestPrepare(t *testing.T) {
	d := testdevice.Open(t, vk.Options{CacheDir: "none"}) // one of its own, without kernels
	o := Options{Weighted: true}
	g := newGraph(t, d, o)
	require.NoError(t, g.Prepare(t.Context()))
	made := g.Metrics().Kernels
	require.NoError(t, g.Prepare(t.Context()))
	r := rand.New(rand.NewPCG(8, 9))
	for _, kind := range kinds(o) {
		e := spread(r, o, 3000)
		for i := range e.From {
			if i%2 == 0 && e.To[i] != 5 {
				e.From[i] = 5
			}
		}
		require.NoError(t, g.UpdateEdgesInto(t.Context(), kind, e, make([]structures.Status, e.Len())))
	}
	_, err := g.DeleteVertices(t.Context(), []uint32{5, 7})
	require.NoError(t, err)
	require.NoError(t, g.Rehash(t.Context()))
	require.NoError(t, g.Check(t.Context()))
	_, _, _, err = g.ExportCSR(t.Context())
	require.NoError(t, err)
	require.Equal(t, made, g.Metrics().Kernels)
}
