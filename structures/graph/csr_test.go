package graph_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

type edge struct{ from, to uint32 }

// rowsOf is what a CSR of edges holds, by a Go map.
func rowsOf(vertices int, from, to, weights []uint32, o CSROptions) (offsets, targets, out []uint32) {
	last := map[edge]uint32{}
	for i := range from {
		if o.DropLoops && from[i] == to[i] {
			continue
		}
		w := uint32(0)
		if weights != nil {
			w = weights[i]
		}
		last[edge{from[i], to[i]}] = w
		if o.Symmetric {
			last[edge{to[i], from[i]}] = w
		}
	}
	rows := make([][]uint32, vertices)
	for e := range last {
		rows[e.from] = append(rows[e.from], e.to)
	}
	offsets = make([]uint32, vertices+1)
	for v, row := range rows {
		slices.Sort(row)
		targets = append(targets, row...)
		offsets[v+1] = uint32(len(targets))
		for _, to := range row {
			out = append(out, last[edge{uint32(v), to}])
		}
	}
	return offsets, targets, out
}

func randomEdges(rng *rand.Rand, vertices uint32, n int) (from, to, weights []uint32) {
	for range n {
		a, b := rng.Uint32N(vertices), rng.Uint32N(vertices)
		if rng.IntN(8) == 0 {
			b = a // a loop
		}
		from, to, weights = append(from, a), append(to, b), append(weights, rng.Uint32())
	}
	return from, to, weights
}

// requireCSR compares a graph with what its edges make of it, and closes it.
func requireCSR(t *testing.T, g *CSR, from, to, weights []uint32, o CSROptions) {
	t.Helper()
	offsets, targets, values, err := g.Slices(t.Context())
	require.NoError(t, err)
	wantOffsets, wantTargets, wantValues := rowsOf(g.Vertices, from, to, weights, o)
	require.Equal(t, wantOffsets, offsets)
	require.True(t, slices.Equal(wantTargets, targets))
	require.Equal(t, len(targets), g.Arcs)
	if weights == nil {
		require.Nil(t, values)
	} else {
		require.True(t, slices.Equal(wantValues, values))
	}
	require.NoError(t, g.Close())
}

func TestBuildCSR(t *testing.T) {
	d := testdevice.Open(t)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, size := range []struct {
		vertices uint32
		edges    int
	}{{1, 0}, {1, 3}, {2, 1}, {7, 40}, {300, 129}, {4097, 20000}} {
		for i := range 8 {
			o := CSROptions{Vertices: int(size.vertices), DropLoops: i&1 != 0, Symmetric: i&2 != 0}
			from, to, weights := randomEdges(rng, size.vertices, size.edges)
			if i&4 != 0 {
				weights = nil
			}
			g, err := BuildCSR(t.Context(), d, Edges{From: from, To: to, Weights: weights}, o)
			require.NoError(t, err)
			require.EqualValues(t, size.vertices, g.Vertices)
			requireCSR(t, g, from, to, weights, o)
		}
	}
}

// Without a number of vertices there is one more than the greatest id, and those between have no arcs.
func TestBuildCSRCountsVertices(t *testing.T) {
	d := testdevice.Open(t)
	from, to := []uint32{5, 5}, []uint32{70000, 5}
	g, err := BuildCSR(t.Context(), d, Edges{From: from, To: to}, CSROptions{})
	require.NoError(t, err)
	require.Equal(t, 70001, g.Vertices)
	requireCSR(t, g, from, to, nil, CSROptions{})
	g, err = BuildCSR(t.Context(), d, Edges{}, CSROptions{})
	require.NoError(t, err)
	require.Zero(t, g.Vertices)
	requireCSR(t, g, nil, nil, nil, CSROptions{})
}

// Edges in device buffers, which earlier work of the stream may have written.
func TestBuildCSROfDeviceEdges(t *testing.T) {
	d := testdevice.Open(t)
	s := testdevice.Stream(t, d)
	from, to, weights := randomEdges(rand.New(rand.NewPCG(2, 1)), 50, 400)
	e := DeviceEdges{Count: len(from), From: testdevice.Room[uint32](t, d, len(from)),
		To: testdevice.Upload(t, d, to), Weights: testdevice.Upload(t, d, weights), Stream: s}
	s.Copy(e.From, 0, testdevice.Upload(t, d, from), 0, len(from))
	o := CSROptions{Vertices: 50, Symmetric: true}
	g, err := BuildCSR(t.Context(), d, e, o)
	require.NoError(t, err)
	requireCSR(t, g, from, to, weights, o)

	var wrong *VertexError
	_, err = BuildCSR(t.Context(), d, e, CSROptions{Vertices: 20})
	require.ErrorAs(t, err, &wrong)
	var length *structures.LengthError
	e.Count++
	_, err = BuildCSR(t.Context(), d, e, o)
	require.ErrorAs(t, err, &length)
}

func TestCSRRefuses(t *testing.T) {
	d := testdevice.Open(t)
	one, two := []uint32{1}, []uint32{1, 2}
	var length *structures.LengthError
	_, err := BuildCSR(t.Context(), d, Edges{From: one, To: two}, CSROptions{})
	require.ErrorAs(t, err, &length)
	_, err = BuildCSR(t.Context(), d, Edges{From: one, To: one, Weights: two}, CSROptions{})
	require.ErrorAs(t, err, &length)
	var wrong *VertexError
	_, err = BuildCSR(t.Context(), d, Edges{From: one, To: two[1:]}, CSROptions{Vertices: 2})
	require.ErrorAs(t, err, &wrong)
	require.EqualValues(t, 2, wrong.Vertex)
	var count *structures.CountError
	_, err = BuildCSR(t.Context(), d, Edges{From: one, To: one}, CSROptions{Vertices: MaxVertices + 1})
	require.ErrorAs(t, err, &count)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = BuildCSR(done, d, Edges{From: one, To: one}, CSROptions{})
	require.ErrorIs(t, err, context.Canceled)

	g, err := BuildCSR(t.Context(), d, Edges{From: one, To: two[1:]}, CSROptions{})
	require.NoError(t, err)
	require.NoError(t, g.Close())
	require.NoError(t, g.Close())
	_, _, _, err = g.Slices(t.Context())
	require.ErrorIs(t, err, vk.ErrClosed)
	_, err = NewCSR(t.Context(), d, Rows{Vertices: 3, Arcs: 1, Offsets: testdevice.Room[uint32](t, d, 3),
		Targets: testdevice.Room[uint32](t, d, 1)})
	require.ErrorAs(t, err, &length)
}

// Rows of rows have what the options ask for: each arc in both directions, and no loops.
func TestBuildCSROfRows(t *testing.T) {
	d := testdevice.Open(t)
	for _, n := range []int{0, 1, 5000} {
		from, to, weights := randomEdges(rand.New(rand.NewPCG(4, 1)), 700, n)
		g, err := BuildCSR(t.Context(), d, Edges{From: from, To: to, Weights: weights}, CSROptions{Vertices: 900})
		require.NoError(t, err)
		offsets, targets, values, err := g.Slices(t.Context())
		require.NoError(t, err)
		var sources []uint32
		for v := range g.Vertices {
			for range offsets[v+1] - offsets[v] {
				sources = append(sources, uint32(v))
			}
		}
		o := CSROptions{Vertices: 900, DropLoops: true, Symmetric: true}
		both, err := BuildCSR(t.Context(), d, g, CSROptions{DropLoops: true, Symmetric: true})
		require.NoError(t, err)
		require.True(t, both.Symmetric)
		requireCSR(t, both, sources, targets, values, o)
		require.NoError(t, g.Close())
		_, err = BuildCSR(t.Context(), d, g, CSROptions{})
		require.ErrorIs(t, err, vk.ErrClosed)
	}
}

func TestTranspose(t *testing.T) {
	d := testdevice.Open(t)
	for _, n := range []int{0, 1, 5000} {
		from, to, weights := randomEdges(rand.New(rand.NewPCG(3, 1)), 700, n)
		o := CSROptions{Vertices: 900}
		g, err := BuildCSR(t.Context(), d, Edges{From: from, To: to, Weights: weights}, o)
		require.NoError(t, err)
		turned, err := g.Transpose(t.Context())
		require.NoError(t, err)
		requireCSR(t, turned, to, from, weights, o)
		require.NoError(t, g.Close())
		_, err = g.Transpose(t.Context())
		require.ErrorIs(t, err, vk.ErrClosed)
	}
}
