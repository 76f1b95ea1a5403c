package analytics_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/graph"
	. "github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Several goroutines ask one Analyzer for different things, and each gets its own answer.
func TestSharedAnalyzer(t *testing.T) {
	e := random(rand.New(rand.NewPCG(5, 5)), 500, 2500, true)
	a := e.analyzer(t, testdevice.Open(t))
	rows := e.rows()
	wantTriangles, wantCores := triangles(rows), cores(rows)
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			source := uint32(i * 77)
			b, err := a.BFS(t.Context(), source, BFSOptions{})
			if assertNo(t, err) && i%2 == 0 {
				c, err := a.Cores(t.Context())
				if assertNo(t, err) && !equal(wantCores, c.Cores) {
					t.Error("cores of another call")
				}
			} else {
				n, err := a.Triangles(t.Context())
				if assertNo(t, err) && n.Count != wantTriangles {
					t.Errorf("%d triangles, want %d", n.Count, wantTriangles)
				}
			}
			if !equal(bfs(rows, source), b.Distances) {
				t.Errorf("distances of another call than from %d", source)
			}
		})
	}
	all.Wait()
}

func assertNo(t *testing.T, err error) bool {
	if err != nil {
		t.Error(err)
	}
	return err == nil
}

func equal(a, b []uint32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestAnalyzerEnds(t *testing.T) {
	d := testdevice.Open(t)
	e := path(50, true)
	g, err := graph.BuildCSR(t.Context(), d, graph.Edges{From: e.from, To: e.to}, graph.CSROptions{Symmetric: true})
	require.NoError(t, err)
	a := New(g)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = a.BFS(done, 0, BFSOptions{})
	require.ErrorIs(t, err, context.Canceled)
	var vertex *graph.VertexError
	_, err = a.BFS(t.Context(), 50, BFSOptions{})
	require.ErrorAs(t, err, &vertex)
	_, err = a.SSSP(t.Context(), 50, SSSPOptions{})
	require.ErrorAs(t, err, &vertex)
	r, err := a.BFS(t.Context(), 0, BFSOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 49, r.Distances[49])
	require.NoError(t, g.Close())
	_, err = a.BFS(t.Context(), 0, BFSOptions{})
	require.ErrorIs(t, err, vk.ErrClosed, "the graph was closed")
	require.NoError(t, a.Close())
	require.NoError(t, a.Close())
	_, err = a.Triangles(t.Context())
	require.ErrorIs(t, err, vk.ErrClosed)
}
