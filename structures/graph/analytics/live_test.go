package analytics_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/graph"
	. "github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// options are those of a graph where it is that has the edges.
func (e *edges) options(weighted bool) graph.Options {
	return graph.Options{Directed: !e.undirected, Weighted: weighted, Vertices: e.vertices}
}

// edges are those from the first-th to the last, without loops.
func (e *edges) between(first, last int, weighted bool) (part graph.Edges) {
	for i := first; i < last; i++ {
		if e.from[i] != e.to[i] {
			part.From, part.To = append(part.From, e.from[i]), append(part.To, e.to[i])
			if weighted {
				part.Weights = append(part.Weights, e.w[i])
			}
		}
	}
	return part
}

// others are so many random edges that are none of these.
func (e *edges) others(rng *rand.Rand, n int) *edges {
	has := map[[2]uint32]bool{}
	for i := range e.from {
		has[[2]uint32{e.from[i], e.to[i]}] = true
		has[[2]uint32{e.to[i], e.from[i]}] = true
	}
	o := &edges{vertices: e.vertices, undirected: e.undirected}
	for range n {
		if a, b := rng.IntN(e.vertices), rng.IntN(e.vertices); !has[[2]uint32{uint32(a), uint32(b)}] {
			o.add(a, b, 1)
		}
	}
	return o
}

// live is an Analyzer of a graph where it is, until the test's end.
func live(t testing.TB, d *vk.Device, o graph.Options) (*graph.Graph, *Analyzer) {
	t.Helper()
	g, err := graph.New(t.Context(), d, o)
	require.NoError(t, err)
	a := NewLive(g)
	t.Cleanup(func() {
		require.NoError(t, a.Close())
		require.NoError(t, g.Close())
	})
	return g, a
}

func insert(t testing.TB, g *graph.Graph, e graph.Edges) {
	t.Helper()
	_, err := g.InsertEdges(t.Context(), e)
	require.NoError(t, err)
}

// fresh is an Analyzer of a graph that has nothing but the edges, without weights.
func (e *edges) fresh(t testing.TB, d *vk.Device) *Analyzer {
	g, a := live(t, d, e.options(false))
	insert(t, g, e.between(0, len(e.from), false))
	return a
}

// worn is an Analyzer of a graph that has the edges, with weights, behind a time in which it had more: slots are
// erased, in front of neighbours, too, and slabs hang behind one another.
func (e *edges) worn(t testing.TB, d *vk.Device) *Analyzer {
	rng := rand.New(rand.NewPCG(3, uint64(len(e.from))))
	o := e.options(true)
	o.MaxLoad = 5
	g, a := live(t, d, o)
	first, second := e.others(rng, 2*len(e.from)), e.others(rng, len(e.from))
	half := len(e.from) / 2
	insert(t, g, first.between(0, len(first.from), true))
	insert(t, g, e.between(0, half, true))
	insert(t, g, second.between(0, len(second.from), true))
	_, err := g.DeleteEdges(t.Context(), first.between(0, len(first.from), false))
	require.NoError(t, err)
	insert(t, g, e.between(half, len(e.from), true))
	_, err = g.DeleteEdges(t.Context(), second.between(0, len(second.from), false))
	require.NoError(t, err)
	return a
}

// A graph that has changed is analysed as it is then: edges that come and go, and vertices.
func TestLiveFollows(t *testing.T) {
	d := testdevice.Open(t)
	rng := rand.New(rand.NewPCG(9, 9))
	e := random(rng, 600, 3000, true)
	g, a := live(t, d, e.options(true))
	require.Zero(t, requireAll(t, a, &edges{vertices: 600, undirected: true}))
	insert(t, g, e.between(0, len(e.from), true))
	before := requireAll(t, a, e)
	require.NotZero(t, before)

	gone := []uint32{3, 599}
	for range 60 {
		gone = append(gone, rng.Uint32N(600))
	}
	_, err := g.DeleteVertices(t.Context(), gone)
	require.NoError(t, err)
	left := &edges{vertices: e.vertices, undirected: true}
	for i := range e.from {
		if !slices.Contains(gone, e.from[i]) && !slices.Contains(gone, e.to[i]) {
			left.add(int(e.from[i]), int(e.to[i]), e.w[i])
		}
	}
	require.Less(t, requireAll(t, a, left), before)
	require.NoError(t, g.Rehash(t.Context()))
	requireAll(t, a, left)

	// Vertices beyond those that there was room for, and a hub of many buckets.
	left.vertices = 5000
	for v := range 5000 {
		left.add(4999, v, uint32(v%30)+1)
	}
	insert(t, g, left.between(0, len(left.from), true))
	requireAll(t, a, left)
	require.NoError(t, g.Inspect().Check(t.Context()))
}

// requireAll compares all algorithms with the edges, and returns how many triangles there are.
func requireAll(t *testing.T, a *Analyzer, e *edges) uint64 {
	t.Helper()
	rows := e.rows()
	b, err := a.BFS(t.Context(), 7, BFSOptions{Parents: true})
	require.NoError(t, err)
	require.Equal(t, bfs(rows, 7), b.Distances)
	requireParents(t, rows, 7, b.Distances, b.Parents)
	p, err := a.SSSP(t.Context(), 7, SSSPOptions{})
	require.NoError(t, err)
	require.Equal(t, dijkstra(rows, 7), p.Distances)
	k, err := a.Cores(t.Context())
	require.NoError(t, err)
	require.Equal(t, cores(rows), k.Cores)
	r, err := a.PageRank(t.Context(), PageRankOptions{Iterations: 10, Tolerance: -1})
	require.NoError(t, err)
	requireRanks(t, pagerank(rows, 0.85, 10), r.Ranks, 2e-5)
	u := newUnionFind(e.vertices)
	for i := range e.from {
		u.link(e.from[i], e.to[i])
	}
	want, _, _ := u.labels()
	c, err := a.Components(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, c.Labels)
	n, err := a.Triangles(t.Context())
	require.NoError(t, err)
	require.Equal(t, triangles(rows), n.Count)
	return n.Count
}

// No call sees a batch of updates in part: a circle is there as a whole or not at all, whoever changes it meanwhile.
func TestLiveBesideUpdates(t *testing.T) {
	d := testdevice.Open(t)
	const n = 400
	circle := path(n, true)
	circle.add(n-1, 0, 1)
	g, a := live(t, d, circle.options(true))
	all := circle.between(0, n, true)
	var wait sync.WaitGroup
	wait.Go(func() {
		for range 6 {
			_, err := g.InsertEdges(t.Context(), all)
			assertNo(t, err)
			_, err = g.DeleteEdges(t.Context(), all)
			assertNo(t, err)
		}
	})
	for range 2 {
		wait.Go(func() {
			for range 8 {
				r, err := a.Components(t.Context())
				if assertNo(t, err) && r.Count != 1 && r.Count != n {
					t.Errorf("%d components of a circle", r.Count)
				}
				k, err := a.Cores(t.Context())
				if assertNo(t, err) && (k.Most != slices.Min(k.Cores) || k.Most != 0 && k.Most != 2) {
					t.Errorf("cores %d to %d of a circle", slices.Min(k.Cores), k.Most)
				}
			}
		})
	}
	wait.Wait()
}

func TestLiveEnds(t *testing.T) {
	d := testdevice.Open(t)
	g, err := graph.New(t.Context(), d, graph.Options{})
	require.NoError(t, err)
	a := NewLive(g)
	var vertex *graph.VertexError
	_, err = a.BFS(t.Context(), 0, BFSOptions{})
	require.ErrorAs(t, err, &vertex, "there are no vertices")
	c, err := a.Components(t.Context())
	require.NoError(t, err)
	require.Zero(t, c.Count)
	k, err := a.Cores(t.Context())
	require.NoError(t, err)
	require.Empty(t, k.Cores)
	r, err := a.PageRank(t.Context(), PageRankOptions{})
	require.NoError(t, err)
	require.Empty(t, r.Ranks)
	require.NoError(t, g.Close())
	_, err = a.Cores(t.Context())
	require.ErrorIs(t, err, vk.ErrClosed, "the graph was closed")
	require.NoError(t, a.Close())
	_, err = a.Cores(t.Context())
	require.ErrorIs(t, err, vk.ErrClosed)
}
