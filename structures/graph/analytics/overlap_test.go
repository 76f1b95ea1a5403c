package analytics_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/graph"
	. "github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// rowsOf are rows that nobody has checked, of so many arcs to one vertex after the other.
func rowsOf(t *testing.T, d *vk.Device, offsets []uint32, arcs int, target func(i int) uint32) graph.Rows {
	targets := make([]uint32, arcs)
	for i := range targets {
		targets[i] = target(i)
	}
	up := func(words []uint32) *vk.Buffer[uint32] {
		b, err := vk.NewBuffer[uint32](d, len(words))
		require.NoError(t, err)
		require.NoError(t, b.Upload(t.Context(), 0, words))
		return b
	}
	return graph.Rows{Vertices: len(offsets) - 1, Arcs: arcs, Offsets: up(offsets), Targets: up(targets),
		Symmetric: true, Trusted: true}
}

// ends tells whether analytics of damaged rows end, whatever they find, and the device goes on: they say where they
// have given up, or have results of some graph.
func ends(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		require.ErrorIs(t, err, ErrStuck, what)
	}
}

// Rows that overlap, as only damaged memory has them: every second vertex has all arcs, and in parts they are more than
// a queue has room for.
func TestOverlappingRows(t *testing.T) {
	pass.OneWidth(t, "the host ends the rounds, and kernels the visits of each row")
	d := testdevice.Open(t)
	overlapping := func(n int, symmetric bool) *Analyzer {
		offsets := make([]uint32, n+1)
		for i := range offsets {
			offsets[i] = uint32(i % 2 * n)
		}
		rows := rowsOf(t, d, offsets, n, func(i int) uint32 { return uint32(i) })
		rows.Symmetric = symmetric
		g, err := graph.NewCSR(t.Context(), d, rows)
		require.NoError(t, err)
		return analyzerOf(t, g)
	}
	large, small := 1<<14, 1<<11
	if stress.Level > 0 {
		large = 1 << 16
	}
	a := overlapping(large, true)
	for _, o := range []BFSOptions{{TopDown: true}, {}} {
		r, err := a.BFS(t.Context(), 0, o)
		ends(t, "BFS", err)
		require.Len(t, r.Distances, large)
	}
	s, err := a.SSSP(t.Context(), 0, SSSPOptions{})
	ends(t, "SSSP", err)
	require.Len(t, s.Distances, large)
	_, err = a.Cores(t.Context())
	ends(t, "Cores", err)
	a = overlapping(small, true)
	_, err = a.Components(t.Context())
	ends(t, "Components", err)
	_, err = a.PageRank(t.Context(), PageRankOptions{Iterations: 3})
	ends(t, "PageRank", err)
	_, err = a.Communities(t.Context(), CommunitiesOptions{Iterations: 3})
	ends(t, "Communities", err)
	_, err = a.Triangles(t.Context())
	ends(t, "Triangles", err)
	_, err = a.TrianglesThroughEdges(t.Context(), []uint32{0, 2}, []uint32{5, 4})
	ends(t, "TrianglesThroughEdges", err)
	// What leads to a vertex is something else than what it leads to, so each round may find one component.
	_, err = overlapping(1<<8, false).StrongComponents(t.Context())
	ends(t, "StrongComponents", err)
}

// Rows that say of themselves that each arc has its opposite, and have none of these: an orientation keeps all arcs.
func TestRowsThatAreNotSymmetric(t *testing.T) {
	d := testdevice.Open(t)
	const n, each = 1 << 15, 32
	offsets := make([]uint32, n+1)
	for i := range offsets {
		offsets[i] = uint32(i * each)
	}
	g, err := graph.NewCSR(t.Context(), d, rowsOf(t, d, offsets, n*each,
		func(i int) uint32 { return min(uint32(i/each+1+i%each), n-1) }))
	require.NoError(t, err)
	_, err = analyzerOf(t, g).Triangles(t.Context())
	ends(t, "Triangles", err)
}

// Rows are checked before a graph is made of them.
func TestOffsetsAreChecked(t *testing.T) {
	d := testdevice.Open(t)
	for _, c := range []struct {
		offsets []uint32
		want    graph.OffsetError
	}{
		{[]uint32{1, 2, 3}, graph.OffsetError{Vertex: 0, Offset: 1, Least: 0, Most: 0}},
		{[]uint32{0, 3, 2}, graph.OffsetError{Vertex: 2, Offset: 2, Least: 3, Most: 3}},
		{[]uint32{0, 4, 3}, graph.OffsetError{Vertex: 1, Offset: 4, Least: 0, Most: 3}},
		{[]uint32{0, 2, 1, 3}, graph.OffsetError{Vertex: 2, Offset: 1, Least: 2, Most: 3}},
		{[]uint32{0, 1, 2}, graph.OffsetError{Vertex: 2, Offset: 2, Least: 3, Most: 3}},
	} {
		rows := rowsOf(t, d, c.offsets, 3, func(i int) uint32 { return uint32(i) })
		rows.Trusted = false
		_, err := graph.NewCSR(t.Context(), d, rows)
		var wrong *graph.OffsetError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, c.want, *wrong)
		rows.Trusted = true
		g, err := graph.NewCSR(t.Context(), d, rows)
		require.NoError(t, err)
		require.NoError(t, g.Close())
	}
}
