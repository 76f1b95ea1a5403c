package analytics_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/graph"
	. "github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/test/testdevice"
)

// tarjan has the strongly connected components in Go: of each vertex the least one of its component.
func tarjan(rows [][]neighbor) []uint32 {
	n := len(rows)
	index, low, labels := make([]int, n), make([]int, n), make([]uint32, n)
	open := make([]bool, n)
	next := make([]int, n) // the next arc of each vertex
	var stack, calls []int
	count := 0
	for root := range rows {
		if index[root] != 0 {
			continue
		}
		calls = append(calls, root)
		for len(calls) > 0 {
			v := calls[len(calls)-1]
			if index[v] == 0 {
				count++
				index[v], low[v], open[v] = count, count, true
				stack = append(stack, v)
			}
			if next[v] < len(rows[v]) {
				u := int(rows[v][next[v]].to)
				if index[u] == 0 {
					calls = append(calls, u) // and then this arc again
					continue
				}
				next[v]++
				if open[u] {
					low[v] = min(low[v], low[u])
				}
				continue
			}
			calls = calls[:len(calls)-1]
			if low[v] != index[v] {
				continue
			}
			at := len(stack) - 1
			for stack[at] != v {
				at--
			}
			least := v
			for _, u := range stack[at:] {
				least = min(least, u)
			}
			for _, u := range stack[at:] {
				labels[u], open[u] = uint32(least), false
			}
			stack = stack[:at]
		}
	}
	return labels
}

func requireStrong(t *testing.T, e *edges, r ComponentsResult) {
	t.Helper()
	want := tarjan(e.rows())
	size, largest := map[uint32]int{}, 0
	for _, label := range want {
		size[label]++
		largest = max(largest, size[label])
	}
	require.Equal(t, want, r.Labels)
	require.Equal(t, []int{len(size), largest}, []int{r.Count, r.Largest})
}

func TestStrongComponents(t *testing.T) {
	eachShape(t, false, func(t *testing.T, e *edges, a *Analyzer) {
		r, err := a.StrongComponents(t.Context())
		require.NoError(t, err)
		requireStrong(t, e, r)
	})
}

// cycles are so many, each of length vertices, in random order, with an arc from one to the next.
func cycles(rng *rand.Rand, n, length int) *edges {
	e := &edges{name: fmt.Sprintf("%d cycles of %d", n, length), vertices: n * length}
	at := rng.Perm(n * length)
	for c := range n {
		for i := range length {
			e.add(at[c*length+i], at[c*length+(i+1)%length], 1)
		}
		if c > 0 {
			e.add(at[c*length-1], at[c*length], 1)
		}
	}
	return e
}

// tailed is a giant component with trees that lead to it, from it, and beside it, some of them with small cycles.
func tailed(rng *rand.Rand, vertices int) *edges {
	e := random(rng, vertices/2, 3*vertices, false)
	e.name, e.vertices = "giant with tails", vertices
	for v := vertices / 2; v < vertices; v++ {
		u := rng.IntN(v)
		if rng.IntN(2) == 0 {
			u, v := v, u
			e.add(u, v, 1)
		} else {
			e.add(u, v, 1)
		}
		if v%7 == 0 {
			e.add(v, v-1, 1)
			e.add(v-1, v, 1)
		}
	}
	return e
}

// dag is random arcs to greater vertices.
func dag(rng *rand.Rand, vertices, n int) *edges {
	e := &edges{name: "no cycles", vertices: vertices}
	for range n {
		a, b := rng.IntN(vertices), rng.IntN(vertices)
		e.add(min(a, b), max(a, b), 1)
	}
	return e
}

// Directed graphs of all densities, long chains and cycles in orders that colors go wrong at, hubs, and loops.
func TestStrongComponentsOfDirectedGraphs(t *testing.T) {
	d := testdevice.Open(t)
	rng := rand.New(rand.NewPCG(4, 1))
	all := []*edges{{name: "one vertex", vertices: 1}, {name: "no edges", vertices: 300}, cycles(rng, 1, 3000),
		cycles(rng, 700, 2), cycles(rng, 40, 30), dag(rng, 2000, 9000), dag(rng, 3000, 3000), tailed(rng, 3000)}
	for _, n := range []int{600, 1000, 1200, 1500, 2000, 4000, 16000} {
		e := random(rng, 1000, n, false)
		e.name = fmt.Sprintf("random %d", n)
		all = append(all, e)
	}
	back := &edges{name: "chain of pairs, the last first", vertices: 3000}
	for v := 0; v < 3000; v += 2 {
		back.add(v, v+1, 1)
		back.add(v+1, v, 1)
		if v > 0 {
			back.add(v, v-2, 1)
		}
	}
	hubs := stars(3, 2500)
	hubs.name, hubs.undirected = "hubs", false
	for v := 1; v < hubs.vertices; v += 3 { // some leaves lead back
		hubs.add(v, v/2501*2501, 1)
	}
	large := rmat(13, 12, rng)
	large.name, large.undirected = "rmat", false
	for _, e := range append(all, back, hubs, large) {
		t.Run(e.name, func(t *testing.T) {
			r, err := e.analyzer(t, d).StrongComponents(t.Context())
			require.NoError(t, err)
			requireStrong(t, e, r)
			g, err := graph.BuildCSR(t.Context(), d, graph.Edges{From: e.from, To: e.to},
				graph.CSROptions{Vertices: e.vertices})
			require.NoError(t, err)
			a := analyzerOf(t, g) // with loops
			for range 2 {
				r, err = a.StrongComponents(t.Context())
				require.NoError(t, err)
				requireStrong(t, e, r)
			}
		})
	}
}

func TestStrongComponentsEnd(t *testing.T) {
	d := testdevice.Open(t)
	g, a := live(t, d, graph.Options{Directed: true})
	r, err := a.StrongComponents(t.Context())
	require.NoError(t, err)
	require.Equal(t, 0, r.Count+r.Largest+len(r.Labels), "there are no vertices")
	e := cycles(rand.New(rand.NewPCG(4, 1)), 2, 3)
	insert(t, g, e.between(0, len(e.from), false))
	r, err = a.StrongComponents(t.Context())
	require.NoError(t, err)
	requireStrong(t, e, r)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = e.analyzer(t, d).StrongComponents(done)
	require.ErrorIs(t, err, context.Canceled)
	_, err = a.StrongComponents(done)
	require.ErrorIs(t, err, context.Canceled)
}
