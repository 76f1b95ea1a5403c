package graph_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/graphoracle"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
	"pgregory.net/rapid"
)

// A graph that is saved and loaded is the same, deleted vertices among its own; a damaged one is refused by name.
func TestSaved(t *testing.T) {
	pass.OneWidth(t, "what is saved depends on no width")
	d := testdevice.Open(t)
	graphoracle.EachSort(t, func(t *testing.T, o Options) {
		rapid.Check(t, func(rt *rapid.T) {
			g, err := New(t.Context(), d, o)
			require.NoError(rt, err)
			defer func() { require.NoError(rt, g.Close()) }()
			w := graphoracle.New(o)
			for range rapid.IntRange(0, 4).Draw(rt, "batches") {
				step(rt, t, g, w, 300)
			}
			var file bytes.Buffer
			n, err := g.Save(t.Context(), &file)
			require.NoError(rt, err)
			require.EqualValues(rt, file.Len(), n)
			whole := bytes.Clone(file.Bytes())
			other, err := Load(t.Context(), d, &file, Options{})
			require.NoError(rt, err)
			requireSame(rt, t, other, w)
			require.NoError(rt, other.Close())

			var damaged *structures.SavedError
			_, err = Load(t.Context(), d, bytes.NewReader(whole[:rapid.IntRange(0, len(whole)-1).Draw(rt, "cut")]),
				Options{})
			require.ErrorAs(rt, err, &damaged)
			whole[rapid.IntRange(0, len(whole)-1).Draw(rt, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
			_, err = Load(t.Context(), d, bytes.NewReader(whole), Options{})
			require.ErrorAs(rt, err, &damaged)
		})
	})
	m, err := slabhash.New[uint64, uint64](t.Context(), d, slabhash.Options{})
	require.NoError(t, err)
	defer m.Close()
	var file bytes.Buffer
	_, err = m.Save(t.Context(), &file)
	require.NoError(t, err)
	_, err = Load(t.Context(), d, &file, Options{})
	require.ErrorIs(t, err, structures.ErrNotSaved)
}

// A graph can be saved and read although the device has next to no memory left.
func TestSaveOnFullDevice(t *testing.T) {
	pass.OneWidth(t, "a graph has one width")
	d := testdevice.Open(t, vk.Options{MemoryLimit: 256 << 20})
	var want []Edge
	for i := range uint32(200_000) {
		want = append(want, Edge{From: i / 10, To: 20_000 + i*7919%65536, Weight: i})
	}
	var e Edges
	for _, edge := range want {
		e.From, e.To, e.Weights = append(e.From, edge.From), append(e.To, edge.To), append(e.Weights, edge.Weight)
	}
	g, err := Build(t.Context(), d, e, Options{Weighted: true, Directed: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, g.Close()) }()
	_, err = g.Degrees(t.Context(), e.From) // makes the buffers for batches, which the graph keeps
	require.NoError(t, err)
	used, budget := d.Memory()
	ballast, err := vk.NewBuffer[byte](d, int(budget-used)-(512<<10))
	require.NoError(t, err)
	var got []Edge
	for edge, err := range g.AllEdges(t.Context()) {
		require.NoError(t, err)
		got = append(got, edge)
	}
	byWeight := func(a, b Edge) int { return int(a.Weight) - int(b.Weight) }
	slices.SortFunc(got, byWeight)
	require.Equal(t, want, got)
	var file bytes.Buffer
	_, err = g.Save(t.Context(), &file)
	require.NoError(t, err)
	ballast.Free()
	other, err := Load(t.Context(), d, &file, Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close()) }()
	got = got[:0]
	for edge, err := range other.AllEdges(t.Context()) {
		require.NoError(t, err)
		got = append(got, edge)
	}
	slices.SortFunc(got, byWeight)
	require.Equal(t, want, got)
}
