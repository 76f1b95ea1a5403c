package ordered

import (
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/internal/edgelist"
)

// arcs are pairs of the tree.
type arcs struct {
	keys   []uint64
	values []uint64 // zeros without weights
	extent int64    // one more than the greatest vertex
}

func valueOf(weight uint32) uint64 { return uint64(weight) << 32 }

func weightOf(value uint64) uint32 { return uint32(value >> 32) }

func weightsOf(values []uint64) []uint32 {
	weights := make([]uint32, len(values))
	for i, v := range values {
		weights[i] = weightOf(v)
	}
	return weights
}

// arcsOfEdge returns how many arcs an edge is.
func arcsOfEdge(r edgelist.Rules, from, to uint32) int {
	switch {
	case from == to && !r.SelfLoops:
		return 0
	case from == to || r.Directed:
		return 1
	}
	return 2
}

// arcsOf returns the arcs of edges. In an undirected graph the arc from the lesser end comes first.
func arcsOf(r edgelist.Rules, e graph.Edges) (a arcs) {
	a.keys = make([]uint64, 0, 2*len(e.From))
	for i, from := range e.From {
		to := e.To[i]
		n := arcsOfEdge(r, from, to)
		if n == 2 {
			from, to = min(from, to), max(from, to)
		}
		if n != 0 {
			a.extent = max(a.extent, int64(from)+1, int64(to)+1)
		}
		for range n {
			a.keys = append(a.keys, edgelist.Key(from, to))
			if e.Weights != nil {
				a.values = append(a.values, valueOf(e.Weights[i]))
			}
			from, to = to, from
		}
	}
	if e.Weights == nil {
		a.values = make([]uint64, len(a.keys))
	}
	return a
}
