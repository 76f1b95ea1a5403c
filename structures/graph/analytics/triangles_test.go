package analytics_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	. "github.com/vkds/vkds/structures/graph/analytics"
)

// triangles counts in Go, by two neighbours of each vertex that are neighbours.
func triangles(rows [][]neighbor) (n uint64) {
	arcs := make([]map[uint32]bool, len(rows))
	for v, row := range rows {
		arcs[v] = map[uint32]bool{}
		for _, to := range row {
			arcs[v][to.to] = true
		}
	}
	for v, row := range rows {
		for _, a := range row {
			if a.to >= uint32(v) {
				continue
			}
			for _, b := range row {
				if b.to < a.to && arcs[a.to][b.to] {
					n++
				}
			}
		}
	}
	return n
}

func TestTriangles(t *testing.T) {
	eachShape(t, false, func(t *testing.T, e *edges, a *Analyzer) {
		r, err := a.Triangles(t.Context())
		if !e.undirected {
			require.ErrorIs(t, err, ErrDirected)
			return
		}
		require.NoError(t, err)
		require.Equal(t, triangles(e.rows()), r.Count)
	})
}
