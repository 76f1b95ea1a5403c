package graph_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Numbers that no vertex has are refused, from slices before anything is done, and on streams by Finish, when the rest
// of the batch is done. What comes later is as without them: a hub gets its buckets.
func TestNoSuchVertices(t *testing.T) {
	d := testdevice.Open(t)
	const n = 3000
	hub := Edges{From: make([]uint32, n), To: make([]uint32, n)}
	for i := range hub.To {
		hub.To[i] = uint32(i) + 1
	}
	buckets := func(g *Graph) uint64 {
		_, err := g.InsertEdges(t.Context(), hub)
		require.NoError(t, err)
		s, err := g.Inspect().Stats(t.Context())
		require.NoError(t, err)
		require.NoError(t, g.Inspect().Check(t.Context()))
		return s.Buckets
	}
	o := Options{Directed: true, Vertices: n + 1}
	plain, err := New(t.Context(), d, o)
	require.NoError(t, err)
	defer plain.Close()
	want := buckets(plain)
	s := testdevice.Stream(t, d)
	for _, bad := range []uint32{math.MaxUint32, math.MaxUint32 - 1, MaxVertices} {
		g, err := New(t.Context(), d, o)
		require.NoError(t, err)
		defer g.Close()
		refused := func(err error, vertex int64) {
			t.Helper()
			var wrong *VertexError
			require.ErrorAs(t, err, &wrong, "%#x", bad)
			require.Equal(t, VertexError{vertex, MaxVertices}, *wrong)
			require.NotErrorIs(t, err, vk.ErrNoRoom)
		}
		statuses, err := g.InsertEdges(t.Context(), Edges{From: []uint32{1, 2}, To: []uint32{2, bad}})
		refused(err, int64(bad))
		require.Equal(t, []structures.Status{structures.Pending, structures.Pending}, statuses)
		_, err = g.InsertVertices(t.Context(), []uint32{bad})
		refused(err, int64(bad))
		b := DeviceBatch{Count: 2, From: testdevice.Upload(t, d, []uint32{1, bad}),
			To: testdevice.Upload(t, d, []uint32{3, 4}), Left: testdevice.Upload(t, d, []uint32{0}),
			Status: testdevice.Room[uint8](t, d, 4)}
		require.NoError(t, g.On(s).Update(t.Context(), structures.Insert, b))
		refused(g.On(s).Finish(t.Context(), structures.Insert, b), -1)
		require.Equal(t, []uint8{uint8(structures.Inserted), uint8(structures.Pending)},
			testdevice.Download(t, b.Status, 2))
		_, err = Build(t.Context(), d, Edges{From: []uint32{1}, To: []uint32{bad}}, Options{})
		refused(err, int64(bad))
		_, err = BuildCSR(t.Context(), d, Edges{From: []uint32{1}, To: []uint32{bad}}, CSROptions{})
		refused(err, int64(bad))
		_, there, err := g.FindEdges(t.Context(), Edges{From: []uint32{1, 1}, To: []uint32{3, bad}})
		require.NoError(t, err)
		require.Equal(t, []bool{true, false}, there)
		require.Equal(t, want+1, buckets(g), "and that of vertex 1")
	}
}
