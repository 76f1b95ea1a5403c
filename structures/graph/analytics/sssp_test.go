package analytics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/graph"
	. "github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// dijkstra is shortest paths in Go, by a scan for the nearest: for graphs that are small.
func dijkstra(rows [][]neighbor, source uint32) []uint32 {
	distances, done := make([]uint64, len(rows)), make([]bool, len(rows))
	for i := range distances {
		distances[i] = math.MaxUint64
	}
	distances[source] = 0
	for {
		next := -1
		for v, d := range distances {
			if !done[v] && d != math.MaxUint64 && (next < 0 || d < distances[next]) {
				next = v
			}
		}
		if next < 0 {
			break
		}
		done[next] = true
		for _, n := range rows[next] {
			distances[n.to] = min(distances[n.to], distances[next]+uint64(n.w))
		}
	}
	words := make([]uint32, len(rows))
	for i, d := range distances {
		words[i] = uint32(min(d, uint64(Unreached)))
	}
	return words
}

func TestSSSP(t *testing.T) {
	eachShape(t, true, func(t *testing.T, e *edges, a *Analyzer) {
		want := dijkstra(e.rows(), uint32(e.vertices/2))
		for _, delta := range []float64{0, 1, 7, math.MaxUint32} {
			r, err := a.SSSP(t.Context(), uint32(e.vertices/2), SSSPOptions{Delta: delta})
			require.NoError(t, err)
			require.Equal(t, want, r.Distances, "delta %d", delta)
			require.Nil(t, r.Parents)
		}
		r, err := a.SSSP(t.Context(), uint32(e.vertices/2), SSSPOptions{Parents: true})
		require.NoError(t, err)
		require.Equal(t, want, r.Distances)
		requirePaths(t, e.rows(), uint32(e.vertices/2), r)
	})
}

// requirePaths looks whether each parent leads to the source, along arcs that are as long together as the distance.
func requirePaths(t *testing.T, rows [][]neighbor, source uint32, r SSSPResult) {
	t.Helper()
	least := map[[2]uint32]uint32{}
	for v, row := range rows {
		for _, n := range row {
			arc := [2]uint32{uint32(v), n.to}
			if w, is := least[arc]; !is || n.w < w {
				least[arc] = n.w
			}
		}
	}
	for v, d := range r.Distances {
		path := Path(r.Parents, uint32(v))
		if d == Unreached {
			require.Nil(t, path)
			continue
		}
		require.Equal(t, source, path[0])
		require.EqualValues(t, v, path[len(path)-1])
		sum := uint64(0)
		for i, to := range path[1:] {
			w, is := least[[2]uint32{path[i], to}]
			require.True(t, is, "an arc from %d to %d", path[i], to)
			sum += uint64(w)
		}
		require.EqualValues(t, d, sum, "to %d by %v", v, path)
	}
}

// Arcs of weight 0, in cycles and chains that lead away from vertices whose parents come late. No path is a cycle.
func TestPathsOfZeroWeights(t *testing.T) {
	d := testdevice.Open(t)
	rng := rand.New(rand.NewPCG(5, 5))
	chain := &edges{name: "chain", vertices: 1000}
	for v := range chain.vertices - 1 { // more steps than are recorded at a time
		chain.add(v, v+1, 0)
		chain.add(v+1, v, 0)
	}
	all := []*edges{chain}
	for _, undirected := range []bool{false, true} {
		e := &edges{name: "random", vertices: 500, undirected: undirected}
		for range 1500 {
			e.add(rng.IntN(e.vertices), rng.IntN(e.vertices), rng.Uint32N(3)/2)
		}
		all = append(all, e)
	}
	for _, e := range all {
		want := dijkstra(e.rows(), 7)
		for _, a := range []*Analyzer{e.analyzer(t, d), e.worn(t, d)} {
			r, err := a.SSSP(t.Context(), 7, SSSPOptions{Parents: true})
			require.NoError(t, err)
			require.Equal(t, want, r.Distances, e.name)
			requirePaths(t, e.rows(), 7, r)
		}
	}
}

// Frontiers of many short rows, with which each workgroup goes on by itself: longer than the rounds that it does, more
// than it has room for, over hubs, whose rows are not its own business, and over one another's.
func TestSSSPInLocalRounds(t *testing.T) {
	d := testdevice.Open(t)
	rng := rand.New(rand.NewPCG(2, 7))
	const legs, length = 200, 40
	e := &edges{name: "legs", undirected: true, vertices: 1 + legs*length}
	at := func(leg, i int) int { return 1 + leg*length + i }
	for leg := range legs {
		e.add(0, at(leg, 0), 1+rng.Uint32N(20))
		for i := range length - 1 {
			e.add(at(leg, i), at(leg, i+1), 1+rng.Uint32N(20))
		}
		e.add(at(leg, length/2), at(0, length-1), 1+rng.Uint32N(90))         // a hub
		e.add(at(leg, length/3), at((leg+1)%legs, length/4), rng.Uint32N(3)) // a shorter way of another leg
	}
	for _, e := range []*edges{e, grid(80, rng)} {
		want := dijkstra(e.rows(), 0)
		for _, a := range []*Analyzer{e.analyzer(t, d), e.worn(t, d)} {
			for _, delta := range []float64{0, 9, math.MaxUint32} {
				r, err := a.SSSP(t.Context(), 0, SSSPOptions{Delta: delta})
				require.NoError(t, err)
				require.Equal(t, want, r.Distances, "%s, delta %d", e.name, delta)
				// The legs alone are 40 long; a GPU takes these frontiers for small.
				if delta == math.MaxUint32 && d.Info().Type == vk.CPU {
					require.Less(t, r.Rounds, 45, "%s: no workgroup went on by itself", e.name)
				}
			}
		}
	}
}

// With weights of 1, and with none, shortest paths are those of a breadth-first search.
func TestSSSPOfUnitWeights(t *testing.T) {
	d := testdevice.Open(t)
	for _, e := range shapes() {
		g, err := graph.BuildCSR(t.Context(), d, graph.Edges{From: e.from, To: e.to},
			graph.CSROptions{Vertices: e.vertices, Symmetric: e.undirected})
		require.NoError(t, err)
		a := New(g)
		want, err := a.BFS(t.Context(), 0, BFSOptions{})
		require.NoError(t, err)
		got, err := a.SSSP(t.Context(), 0, SSSPOptions{})
		require.NoError(t, err)
		require.Equal(t, want.Distances, got.Distances, e.name)
		require.NoError(t, a.Close())
		require.NoError(t, g.Close())
	}
}

// Weights of 0, and sums that have no room in a word.
func TestSSSPOfExtremeWeights(t *testing.T) {
	d := testdevice.Open(t)
	e := &edges{name: "extreme", vertices: 9}
	half := uint32(1) << 31
	for _, x := range [][3]uint32{{0, 1, 0}, {1, 2, half}, {2, 3, half - 2}, {2, 4, half - 1}, {2, 5, half},
		{0, 6, math.MaxUint32}, {3, 7, 0}, {7, 4, 0}, {0, 8, 1}, {8, 1, 0}} {
		e.add(int(x[0]), int(x[1]), x[2])
	}
	for _, delta := range []float64{0, 1, float64(half)} {
		r, err := e.analyzer(t, d).SSSP(t.Context(), 0, SSSPOptions{Delta: delta})
		require.NoError(t, err)
		last := uint32(math.MaxUint32 - 1)
		require.Equal(t, []uint32{0, 0, half, last, last, Unreached, Unreached, last, 1}, r.Distances)
	}
}
