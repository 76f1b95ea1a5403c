package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/test/testdevice"
)

// Results are checked inside the benchmark: that it ends without an error says that all were right.
func TestGraphsAreMeasured(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "graph", quick(allOps("graph"), "n=3000", "batch=500", "graph=uniform,rmat,grid",
		"on=csr,live,worn"))
	require.NoError(t, err)
	require.Len(t, r.Measurements, 3*(4+6*3))
	for _, m := range r.Measurements {
		require.Positive(t, m.Throughput(), m.Op)
	}
}

func TestWrongDistancesAreFound(t *testing.T) {
	d := testdevice.Open(t)
	s := sessionOf(t, d, "graph", 3000)
	a := s.analyzer(false)
	from := a.sources[0]
	distances := must(a.on.BFS(t.Context(), from, analytics.BFSOptions{})).Distances
	check := func() { s.checkDistances(a, from, distances, false) }
	right(t, check)
	for _, v := range []uint32{from, a.row(int(from))[0]} {
		distances[v]++
		wrong(t, check)
		distances[v] -= 2
		wrong(t, check)
		distances[v]++
	}
}
