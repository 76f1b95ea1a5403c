package analytics_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	. "github.com/vkds/vkds/structures/graph/analytics"
	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/network"
	shortest "gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
	"gonum.org/v1/gonum/graph/traverse"
)

// builder is a gonum graph that is being made.
type builder interface {
	gonum.Weighted
	AddNode(gonum.Node)
	SetWeightedEdge(gonum.WeightedEdge)
}

// gonumGraphs are the edges as graphs of gonum: each arc one of a directed one, and, undirected, each edge one.
func (e *edges) gonumGraphs() (arcs *simple.WeightedDirectedGraph, all *simple.WeightedUndirectedGraph) {
	arcs = simple.NewWeightedDirectedGraph(0, math.Inf(1))
	all = simple.NewWeightedUndirectedGraph(0, math.Inf(1))
	for _, g := range []builder{arcs, all} {
		for v := range e.vertices {
			g.AddNode(simple.Node(v))
		}
		for v, row := range e.rows() {
			for _, n := range row {
				g.SetWeightedEdge(g.(interface {
					NewWeightedEdge(from, to gonum.Node, w float64) gonum.WeightedEdge
				}).NewWeightedEdge(simple.Node(v), simple.Node(n.to), float64(n.w)))
			}
		}
	}
	return arcs, all
}

// small are shapes that gonum is done with soon.
func small(t *testing.T, test func(t *testing.T, e *edges, a *Analyzer)) {
	eachShape(t, true, func(t *testing.T, e *edges, a *Analyzer) {
		if e.vertices <= 1000 {
			test(t, e, a)
		}
	})
}

// Paths are as long as gonum's, by edges and by weights.
func TestDistancesOfGonum(t *testing.T) {
	small(t, func(t *testing.T, e *edges, a *Analyzer) {
		arcs, _ := e.gonumGraphs()
		source := e.vertices / 3
		paths := shortest.DijkstraFrom(simple.Node(source), arcs)
		hops := make([]uint32, e.vertices)
		for v := range hops {
			hops[v] = Unreached
		}
		walk := traverse.BreadthFirst{}
		walk.Walk(arcs, simple.Node(source), func(n gonum.Node, depth int) bool {
			hops[n.ID()] = uint32(depth)
			return false
		})
		b, err := a.BFS(t.Context(), uint32(source), BFSOptions{})
		require.NoError(t, err)
		require.Equal(t, hops, b.Distances)
		s, err := a.SSSP(t.Context(), uint32(source), SSSPOptions{})
		require.NoError(t, err)
		for v, d := range s.Distances {
			want := paths.WeightTo(int64(v))
			if d == Unreached {
				require.True(t, math.IsInf(want, 1), "to %d", v)
			} else {
				require.EqualValues(t, want, d, "to %d", v)
			}
		}
	})
}

// Ranks are gonum's.
func TestRanksOfGonum(t *testing.T) {
	small(t, func(t *testing.T, e *edges, a *Analyzer) {
		arcs, _ := e.gonumGraphs()
		unweighted := simple.NewDirectedGraph() // gonum shares a rank by weights, where there are some
		gonum.Copy(unweighted, arcs)
		want := network.PageRankSparse(unweighted, 0.85, 1e-10)
		r, err := a.PageRank(t.Context(), PageRankOptions{Tolerance: 1e-7})
		require.NoError(t, err)
		off := 0.0
		for v, rank := range r.Ranks {
			off += math.Abs(float64(rank) - want[int64(v)])
		}
		require.Less(t, off, 1e-5)
	})
}

// Components, cores and triangles are gonum's.
func TestPartsOfGonum(t *testing.T) {
	small(t, func(t *testing.T, e *edges, a *Analyzer) {
		if !e.undirected {
			return
		}
		_, all := e.gonumGraphs()
		c, err := a.Components(t.Context())
		require.NoError(t, err)
		components := topo.ConnectedComponents(all)
		require.Equal(t, len(components), c.Count)
		for _, nodes := range components {
			for _, n := range nodes {
				require.Equal(t, c.Labels[nodes[0].ID()], c.Labels[n.ID()])
			}
		}
		k, err := a.Cores(t.Context())
		require.NoError(t, err)
		_, cores := topo.DegeneracyOrdering(all)
		for core, nodes := range cores {
			for _, n := range nodes {
				require.EqualValues(t, core, k.Cores[n.ID()], "vertex %d", n.ID())
			}
		}
		triangles := uint64(0)
		for it := all.Edges(); it.Next(); {
			u, v := it.Edge().From().ID(), it.Edge().To().ID()
			for other := all.From(u); other.Next(); {
				if w := other.Node().ID(); w > max(u, v) && all.HasEdgeBetween(w, v) {
					triangles++
				}
			}
		}
		r, err := a.Triangles(t.Context())
		require.NoError(t, err)
		require.Equal(t, triangles, r.Count)
	})
}
