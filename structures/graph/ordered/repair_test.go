package ordered

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/internal/edgelist"
	"github.com/vkds/vkds/test/testdevice"
)

// Of operations on an edge of which each was done on another arc, or none on one, one arc's are what is done.
func TestOrderedRepairsWeights(t *testing.T) {
	const p, is = structures.Pending, structures.Assigned
	d := testdevice.Open(t)
	for _, c := range []struct {
		arc, back   uint32 // weights before the repair; 0: it isn't there
		status, now []structures.Status
		weight      uint32
	}{
		{7, 0, []structures.Status{p, p, is, p}, []structures.Status{p, p, is, is}, 7},
		{0, 7, []structures.Status{p, p, p, is}, []structures.Status{p, p, p, p}, 0},
		{5, 7, []structures.Status{is, p, p, is}, []structures.Status{is, is, p, p}, 5},
		{3, 7, []structures.Status{p, is, p, p}, []structures.Status{p, p, p, p}, 3},
		{7, 5, []structures.Status{is, is, is, p}, []structures.Status{is, is, is, is}, 7},
	} {
		g, err := New(t.Context(), d, Options{Weighted: true})
		require.NoError(t, err)
		for key, weight := range map[uint64]uint32{edgelist.Key(1, 2): c.arc, edgelist.Key(2, 1): c.back} {
			if weight != 0 {
				_, err = g.tree.Insert(t.Context(), []uint64{key}, []uint64{valueOf(weight)})
				require.NoError(t, err)
			}
		}
		e := graph.Edges{From: []uint32{1, 2}, To: []uint32{2, 1}, Weights: []uint32{5, 7}}
		b := batch{arcs: arcsOf(g.now.rules, e), status: c.status}
		require.Equal(t, context.Canceled, b.repair(t.Context(), g.tree, context.Canceled))
		require.Equal(t, c.now, b.status)
		weights, found, err := g.Now().FindEdges(t.Context(), graph.Edges{From: []uint32{1, 2}, To: []uint32{2, 1}})
		require.NoError(t, err)
		require.Equal(t, []uint32{c.weight, c.weight}, weights)
		require.Equal(t, []bool{c.weight != 0, c.weight != 0}, found)
		require.NoError(t, g.Close())
	}
}
