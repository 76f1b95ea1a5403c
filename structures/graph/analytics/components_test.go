package analytics_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	. "github.com/vkds/vkds/structures/graph/analytics"
)

// unionFind has the components of edges in Go: of each vertex the least one of its component.
type unionFind []uint32

func newUnionFind(vertices int) unionFind {
	u := make(unionFind, vertices)
	for v := range u {
		u[v] = uint32(v)
	}
	return u
}

func (u unionFind) root(v uint32) uint32 {
	for u[v] != v {
		u[v] = u[u[v]]
		v = u[v]
	}
	return v
}

func (u unionFind) link(a, b uint32) {
	a, b = u.root(a), u.root(b)
	u[max(a, b)] = min(a, b)
}

func (u unionFind) labels() (labels []uint32, count, largest int) {
	size := map[uint32]int{}
	for v := range u {
		root := u.root(uint32(v))
		labels = append(labels, root)
		size[root]++
		largest = max(largest, size[root])
	}
	return labels, len(size), largest
}

func TestComponents(t *testing.T) {
	eachShape(t, false, func(t *testing.T, e *edges, a *Analyzer) {
		u := newUnionFind(e.vertices)
		for i := range e.from {
			u.link(e.from[i], e.to[i])
		}
		want, count, largest := u.labels()
		r, err := a.Components(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, r.Labels)
		require.Equal(t, []int{count, largest}, []int{r.Count, r.Largest})
	})
}
