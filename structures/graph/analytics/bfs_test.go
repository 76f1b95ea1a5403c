package analytics_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	. "github.com/vkds/vkds/structures/graph/analytics"
)

// bfs is a breadth-first search in Go.
func bfs(rows [][]neighbor, source uint32) []uint32 {
	distances := make([]uint32, len(rows))
	for i := range distances {
		distances[i] = Unreached
	}
	distances[source] = 0
	for queue := []uint32{source}; len(queue) > 0; queue = queue[1:] {
		for _, n := range rows[queue[0]] {
			if distances[n.to] == Unreached {
				distances[n.to] = distances[queue[0]] + 1
				queue = append(queue, n.to)
			}
		}
	}
	return distances
}

// requireParents looks whether each parent is one step nearer and has an arc to its child.
func requireParents(t *testing.T, rows [][]neighbor, source uint32, distances, parents []uint32) {
	t.Helper()
	arcs := map[[2]uint32]bool{}
	for v, row := range rows {
		for _, n := range row {
			arcs[[2]uint32{uint32(v), n.to}] = true
		}
	}
	for v, p := range parents {
		switch {
		case distances[v] == Unreached:
			require.Equal(t, Unreached, p)
		case uint32(v) == source:
			require.Equal(t, source, p)
		default:
			require.True(t, arcs[[2]uint32{p, uint32(v)}], "an arc from %d to %d", p, v)
			require.Equal(t, distances[v], distances[p]+1)
		}
	}
}

func TestBFS(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	eachShape(t, false, func(t *testing.T, e *edges, a *Analyzer) {
		rows := e.rows()
		for _, source := range []uint32{0, rng.Uint32N(uint32(e.vertices))} {
			want := bfs(rows, source)
			for _, topDown := range []bool{false, true} {
				r, err := a.BFS(t.Context(), source, BFSOptions{Parents: true, TopDown: topDown})
				require.NoError(t, err)
				require.Equal(t, want, r.Distances)
				requireParents(t, rows, source, r.Distances, r.Parents)
			}
			r, err := a.BFS(t.Context(), source, BFSOptions{})
			require.NoError(t, err)
			require.Equal(t, want, r.Distances)
			require.Nil(t, r.Parents)
		}
	})
}
