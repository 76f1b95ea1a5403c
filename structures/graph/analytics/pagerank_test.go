package analytics_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// pagerank iterates in Go, in double precision.
func pagerank(rows [][]neighbor, damping float64, iterations int) []float64 {
	jumps := make([]float64, len(rows))
	for v := range jumps {
		jumps[v] = 1 / float64(len(rows))
	}
	return personalized(rows, jumps, damping, iterations)
}

// personalized is pagerank with the probability of jumping to each vertex.
func personalized(rows [][]neighbor, jumps []float64, damping float64, iterations int) []float64 {
	ranks := slices.Clone(jumps)
	for range iterations {
		dangling, next := 0.0, make([]float64, len(rows))
		for v, row := range rows {
			if len(row) == 0 {
				dangling += ranks[v]
			}
			for _, to := range row {
				next[to.to] += damping * ranks[v] / float64(len(row))
			}
		}
		for v := range next {
			next[v] += (1 - damping + damping*dangling) * jumps[v]
		}
		ranks = next
	}
	return ranks
}

func requireRanks(t *testing.T, want []float64, got []float32, most float64) {
	t.Helper()
	require.Equal(t, len(want), len(got))
	off := 0.0
	for v := range want {
		off += math.Abs(want[v] - float64(got[v]))
	}
	require.Less(t, off, most)
}

func TestPageRank(t *testing.T) {
	eachShape(t, false, func(t *testing.T, e *edges, a *Analyzer) {
		rows := e.rows()
		for _, n := range []int{1, 2, 20} {
			r, err := a.PageRank(t.Context(), PageRankOptions{Iterations: n, Tolerance: -1, Damping: 0.7})
			require.NoError(t, err)
			require.Equal(t, n, r.Iterations)
			requireRanks(t, pagerank(rows, 0.7, n), r.Ranks, 2e-5)
		}
		const tolerance = 5e-6 // what single precision reaches with hubs of thousands of arcs
		cold, err := a.PageRank(t.Context(), PageRankOptions{Tolerance: tolerance})
		require.NoError(t, err)
		const off = 2e-5 + tolerance*0.85/(1-0.85)
		requireRanks(t, pagerank(rows, 0.85, 150), cold.Ranks, off)
		require.LessOrEqual(t, cold.Change, float32(tolerance))
		require.Less(t, cold.Iterations, 100)
		// From where it ended it is at its end.
		warm, err := a.PageRank(t.Context(), PageRankOptions{From: cold.Ranks, Tolerance: tolerance})
		require.NoError(t, err)
		requireRanks(t, pagerank(rows, 0.85, 150), warm.Ranks, off)
		require.LessOrEqual(t, warm.Iterations, 2)
	})
}

// After a batch, ranks that begin with those of before are as right as those that begin anew.
func TestPageRankAfterABatch(t *testing.T) {
	d := testdevice.Open(t)
	rng := rand.New(rand.NewPCG(3, 7))
	directed := rmat(11, 16, rng)
	directed.undirected = false
	for _, e := range []*edges{rmat(11, 16, rng), directed, grid(40, rng)} {
		before, err := e.analyzer(t, d).PageRank(t.Context(), PageRankOptions{})
		require.NoError(t, err)
		for range 3 { // a thousandth of the edges each: some are deleted, and others inserted
			n := len(e.from)/2000 + 1
			e.from, e.to, e.w = e.from[n:], e.to[n:], e.w[n:]
			for range n {
				e.add(rng.IntN(e.vertices), rng.IntN(e.vertices), 1)
			}
			a, want := e.analyzer(t, d), pagerank(e.rows(), 0.85, 150)
			for _, from := range [][]float32{nil, before.Ranks} {
				r, err := a.PageRank(t.Context(), PageRankOptions{From: from})
				require.NoError(t, err)
				require.LessOrEqual(t, r.Change, float32(1e-6))
				requireRanks(t, want, r.Ranks, 1e-5)
				before = r
			}
		}
	}
}

// Walks that jump to one vertex, and to some with different probabilities, which need not add up to 1.
func TestPersonalizedPageRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	eachShape(t, false, func(t *testing.T, e *edges, a *Analyzer) {
		one, some := make([]float32, e.vertices), make([]float32, e.vertices)
		one[e.vertices/3] = 1e-9
		for range 5 {
			some[rng.IntN(e.vertices)] += 1000 * rng.Float32()
		}
		for _, p := range [][]float32{one, some} {
			before := slices.Clone(p)
			sum := 0.0
			for _, x := range p {
				sum += float64(x)
			}
			jumps := make([]float64, e.vertices)
			for v, x := range p {
				jumps[v] = float64(x) / sum
			}
			for _, n := range []int{1, 20} {
				r, err := a.PageRank(t.Context(), PageRankOptions{Iterations: n, Tolerance: -1, Personalization: p})
				require.NoError(t, err)
				requireRanks(t, personalized(e.rows(), jumps, 0.85, n), r.Ranks, 2e-5)
			}
			require.Equal(t, before, p)
		}
	})
}

func TestPageRankRefuses(t *testing.T) {
	a := path(3, true).analyzer(t, testdevice.Open(t))
	var option *vk.OptionError
	for _, o := range []PageRankOptions{{Damping: 1}, {Damping: -0.1}, {Damping: float32(math.NaN())},
		{Iterations: -1}, {Personalization: make([]float32, 3)}, {Personalization: []float32{1, -1, 1}},
		{Personalization: []float32{1, float32(math.NaN()), 1}},
		{Personalization: []float32{0, 0, float32(math.Inf(1))}}} {
		_, err := a.PageRank(t.Context(), o)
		require.ErrorAs(t, err, &option)
	}
	var length *structures.LengthError
	_, err := a.PageRank(t.Context(), PageRankOptions{From: make([]float32, 2)})
	require.ErrorAs(t, err, &length)
	_, err = a.PageRank(t.Context(), PageRankOptions{Personalization: make([]float32, 4)})
	require.ErrorAs(t, err, &length)
}
