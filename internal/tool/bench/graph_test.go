package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Results are checked inside the benchmark: that it ends without an error says that all were right.
func TestGraphsAreMeasured(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "graph", quick(allOps("graph"), "n=3000", "batch=500", "graph=uniform,rmat,grid",
		"on=csr,live,worn"))
	require.NoError(t, err)
	require.Len(t, r.Measurements, 3*(5+6*3))
	for _, m := range r.Measurements {
		require.Positive(t, m.Throughput(), m.Op)
	}

	r, err = Run(t.Context(), d, "graph", quick("build build-batches", "n=12", "batch=11", "graph=rmat",
		"load=0.2,3"))
	require.NoError(t, err)
	require.Len(t, r.Measurements, 2*2)
	require.Equal(t, 3.0, r.Measurements[3].Load)
	require.Len(t, r.Measurements[3].Steps, 2)
}

// An edge without a direction is two arcs, whether the file lists it once or twice.
func TestGraphsOfFilesAreMeasured(t *testing.T) {
	d := testdevice.Open(t)
	files := "../../../testdata/karate.mtx,../../../testdata/celegans_metabolic.graph.gz"
	r, err := Run(t.Context(), d, "graph", quick(allOps("graph"), "file="+files, "batch=100"))
	require.NoError(t, err)
	require.Len(t, r.Measurements, 2*(5+6))
	require.Equal(t, []any{156, "karate.mtx"}, []any{r.Measurements[0].N, r.Measurements[0].Form})
	require.Equal(t, []any{2 * 2025, "celegans_metabolic.graph.gz"}, []any{r.Measurements[11].N,
		r.Measurements[11].Form})

	_, err = Run(t.Context(), d, "graph", quick("build", "file=none.mtx"))
	require.ErrorContains(t, err, "none.mtx")
	var option *vk.OptionError
	require.ErrorAs(t, Check("graph", quick("build", "file=none.mtx", "n=12")), &option)
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
