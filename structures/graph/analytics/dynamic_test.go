package analytics_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	. "github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// undirected is a graph of edges, without loops, until the test's end.
func undirected(t *testing.T, d *vk.Device, vertices int, from, to []uint32) *graph.CSR {
	t.Helper()
	g, err := graph.BuildCSR(t.Context(), d, graph.Edges{From: from, To: to},
		graph.CSROptions{Vertices: vertices, DropLoops: true, Symmetric: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	return g
}

// A count that is kept up from batches alone is that of the whole graph: batches whose edges make triangles with one
// another, with old edges, and of old edges that come once more; inserted, and taken away again.
func TestTrianglesThroughBatches(t *testing.T) {
	d := testdevice.Open(t)
	rng := rand.New(rand.NewPCG(3, 3))
	const vertices = 90
	count := func(g *graph.CSR) uint64 {
		a := New(g)
		defer a.Close()
		r, err := a.Triangles(t.Context())
		require.NoError(t, err)
		return r.Count
	}
	through := func(g *graph.CSR, from, to []uint32) uint64 {
		a := New(g)
		defer a.Close()
		r, err := a.TrianglesThroughEdges(t.Context(), from, to)
		require.NoError(t, err)
		return r.Count
	}
	var from, to []uint32
	there := map[[2]uint32]bool{}
	counted, before := uint64(0), undirected(t, d, vertices, nil, nil)
	for _, n := range []int{400, 1, 0, 700, 300} {
		// Edges that weren't there: a batch of insertions is what it changes.
		var newFrom, newTo []uint32
		for range n {
			a, b := rng.Uint32N(vertices), rng.Uint32N(vertices)
			if key := [2]uint32{min(a, b), max(a, b)}; a != b && !there[key] {
				there[key] = true
				newFrom, newTo = append(newFrom, a), append(newTo, b)
			}
		}
		from, to = append(from, newFrom...), append(to, newTo...)
		after := undirected(t, d, vertices, from, to)
		require.Zero(t, through(before, newFrom, newTo), "edges that aren't there")
		more := through(after, newFrom, newTo)
		counted += more
		require.Equal(t, count(after), counted)
		require.Equal(t, counted-more, count(before), "what a deletion of the batch leaves")
		before = after
	}
	require.Greater(t, counted, uint64(1000))
	require.Equal(t, counted, through(before, from, to), "all of them")
}

// The same count where the graph is, whose edges come and go: of edges that come twice, in both directions, as loops,
// and that the graph doesn't have; of graphs with weights and without, with a hub of several buckets.
func TestTrianglesThroughEdges(t *testing.T) {
	d := testdevice.Open(t)
	const vertices, hub, spokes = 700, 3, 300
	for _, weighted := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(3, 9))
		g, a := live(t, d, graph.Options{Weighted: weighted, Vertices: vertices})
		counted := uint64(0)
		for round := range 5 {
			var e graph.Edges
			for i := range 1500 {
				u, v := rng.Uint32N(90), rng.Uint32N(90)
				if round == 1 && i < spokes {
					u, v = hub, 100+uint32(i)
				}
				e.From, e.To = append(e.From, u, v), append(e.To, v, u)
			}
			if weighted {
				e.Weights = make([]uint32, len(e.From))
			}
			var change graph.Edges
			deletes := round%2 == 1 && round > 1
			status, err := []structures.Status(nil), error(nil)
			if !deletes {
				status, err = g.InsertEdges(t.Context(), e)
				require.NoError(t, err)
			}
			for i, u := range e.From {
				if deletes || status[i] == structures.Inserted {
					change.From, change.To = append(change.From, u), append(change.To, e.To[i])
				}
			}
			r, err := a.TrianglesThroughEdges(t.Context(), change.From, change.To)
			require.NoError(t, err)
			counted += r.Count
			if deletes {
				counted -= 2 * r.Count
				_, err = g.DeleteEdges(t.Context(), change)
				require.NoError(t, err)
			}
			all, err := a.Triangles(t.Context())
			require.NoError(t, err)
			require.Equal(t, all.Count, counted, "round %d", round)
			rows, err := g.CSR(t.Context(), true)
			require.NoError(t, err)
			of := New(rows)
			same, err := of.TrianglesThroughEdges(t.Context(), e.From, e.To)
			require.NoError(t, err)
			r, err = a.TrianglesThroughEdges(t.Context(), e.From, e.To)
			require.NoError(t, err)
			require.Equal(t, same.Count, r.Count)
			require.NoError(t, of.Close())
			require.NoError(t, rows.Close())
		}
		require.Greater(t, counted, uint64(100))
		var vertex *graph.VertexError
		_, err := a.TrianglesThroughEdges(t.Context(), []uint32{1}, []uint32{vertices})
		require.ErrorAs(t, err, &vertex)
	}
}

func TestTrianglesThroughRefuses(t *testing.T) {
	d := testdevice.Open(t)
	g, err := graph.BuildCSR(t.Context(), d, graph.Edges{From: []uint32{0}, To: []uint32{2}}, graph.CSROptions{})
	require.NoError(t, err)
	defer g.Close()
	directed := New(g)
	defer directed.Close()
	_, err = directed.TrianglesThroughEdges(t.Context(), []uint32{0}, []uint32{2})
	require.ErrorIs(t, err, ErrDirected)
	a := New(undirected(t, d, 3, []uint32{0}, []uint32{1}))
	defer a.Close()
	var length *structures.LengthError
	_, err = a.TrianglesThroughEdges(t.Context(), []uint32{0}, nil)
	require.ErrorAs(t, err, &length)
	var vertex *graph.VertexError
	_, err = a.TrianglesThroughEdges(t.Context(), []uint32{0}, []uint32{3})
	require.ErrorAs(t, err, &vertex)
}

func TestConnectivity(t *testing.T) {
	d := testdevice.Open(t)
	rng := rand.New(rand.NewPCG(4, 4))
	const vertices = 3000
	c, err := NewConnectivity(t.Context(), d, vertices)
	require.NoError(t, err)
	u := newUnionFind(vertices)
	for _, n := range []int{0, 1, 700, 900, 2000, 9000} {
		from, to := make([]uint32, n), make([]uint32, n)
		for i := range from {
			from[i], to[i] = rng.Uint32N(vertices), rng.Uint32N(vertices)
			u.link(from[i], to[i])
		}
		_, err := c.Insert(t.Context(), from, to)
		require.NoError(t, err)
		want, count, largest := u.labels()
		r, err := c.Components(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, r.Labels)
		require.Equal(t, []int{count, largest}, []int{r.Count, r.Largest})
	}
	var vertex *graph.VertexError
	_, err = c.Insert(t.Context(), []uint32{1}, []uint32{vertices})
	require.ErrorAs(t, err, &vertex)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Insert(done, []uint32{1}, []uint32{2})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, c.Close())
	require.NoError(t, c.Close())
	_, err = c.Components(t.Context())
	require.ErrorIs(t, err, vk.ErrClosed)
}
