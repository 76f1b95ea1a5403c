package graph

import "github.com/vkds/vkds/vk"

// arcsOfEdges are edges as a tree has them: of an undirected graph the arc from the lesser end first, a loop being one.
type arcsOfEdges struct {
	keys   []uint64
	values []uint64 // zeros where there are no weights
	extent int64    // one more than the greatest vertex
}

// checkVertices refuses vertices that no graph has.
func (a arcsOfEdges) checkVertices() error { return checkExtent(a.extent) }

// checkExtent refuses a number of vertices that no graph has.
func checkExtent(extent int64) error {
	if extent > MaxVertices {
		return &vk.LimitError{What: "vertices of a graph", Want: uint64(extent), Most: MaxVertices}
	}
	return nil
}

// extentOf is one more than the greatest vertex.
func extentOf(lists ...[]uint32) (extent int64) {
	for _, vertices := range lists {
		most, any := uint32(0), len(vertices) != 0
		for _, v := range vertices {
			most = max(most, v)
		}
		if any {
			extent = max(extent, int64(most)+1)
		}
	}
	return extent
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

func keyOf(from, to uint32) uint64 { return uint64(from)<<32 | uint64(to) }

func endsOf(key uint64) (from, to uint32) { return uint32(key >> 32), uint32(key) }

// arcsOfEdge is how many arcs an edge is.
func (o *Options) arcsOfEdge(from, to uint32) int {
	switch {
	case from == to && !o.SelfLoops:
		return 0
	case from == to || o.Directed:
		return 1
	}
	return 2
}

func (o Options) arcsOf(e Edges) (a arcsOfEdges) {
	a.keys = make([]uint64, 0, 2*len(e.From))
	for i, from := range e.From {
		to := e.To[i]
		n := o.arcsOfEdge(from, to)
		if n == 2 {
			from, to = min(from, to), max(from, to)
		}
		if n != 0 {
			a.extent = max(a.extent, int64(from)+1, int64(to)+1)
		}
		for range n {
			a.keys = append(a.keys, keyOf(from, to))
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
