package graph_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Behind Prepare no call on a graph makes a kernel, be it one that grows, deletes or is asked for rows.
func TestPrepare(t *testing.T) {
	pass.OneWidth(t, "which kernels are made depends on no width")
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
		require.NoError(t, g.UpdateEdgesInto(t.Context(), kind, e, make([]structures.Status, len(e.From))))
	}
	_, err := g.DeleteVertices(t.Context(), []uint32{5, 7})
	require.NoError(t, err)
	require.NoError(t, g.Rehash(t.Context()))
	require.NoError(t, g.Check(t.Context()))
	require.NoError(t, closed(g.CSR(t.Context(), true)))
	require.Equal(t, made, g.Metrics().Kernels)
}

// The same of an Ordered and its snapshots, with batches of either path of its tree.
func TestNothingIsMadeBehindPrepare(t *testing.T) {
	pass.OneWidth(t, "which kernels are made depends on no width")
	d, kernels := testdevice.OpenNew(t)
	o := Options{Weighted: true, Vertices: 1500}
	g := newOrdered(t, d, orderedOptions(o))
	require.NoError(t, g.Prepare(t.Context()))
	require.NotEmpty(t, kernels.Take())
	require.NoError(t, g.Prepare(t.Context()))
	before, err := g.Snapshot(t.Context())
	require.NoError(t, err)
	defer before.Close()
	r := rand.New(rand.NewPCG(8, 9))
	w := newOracle(o)
	for _, n := range []int{1, 300, 20_000} {
		for _, kind := range kinds(o) {
			e := spread(r, o, n)
			status := make([]structures.Status, len(e.From))
			require.NoError(t, g.UpdateEdgesInto(t.Context(), kind, e, status))
			require.Empty(t, kernels.Take(), "%v of %d edges", kind, n)
			w.updates(t, kind, e, status)
		}
	}
	require.NoError(t, g.Check(t.Context()))
	behind, err := g.Snapshot(t.Context())
	require.NoError(t, err)
	defer behind.Close()
	requireOrdered(t, t.Context(), g.Now(), w)
	requireOrdered(t, t.Context(), behind, w)
	requireDiff(t, t.Context(), before, behind, newOracle(o), w)
	require.Empty(t, kernels.Take())
}
