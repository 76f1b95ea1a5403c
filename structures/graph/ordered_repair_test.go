package graph

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
)

// Of two operations on an edge, the first of which found no room and the second of which did for one of the arcs, as
// hardly ever happens: what is gone on with comes behind that one, and both arcs have the weight that the batch's order
// leaves.
func TestOrderedRepairsWeights(t *testing.T) {
	d := testdevice.Open(t)
	for _, kind := range []structures.Kind{structures.Insert, structures.InsertUnique} {
		g, err := NewOrdered(t.Context(), d, OrderedOptions{Weighted: true})
		require.NoError(t, err)
		e := Edges{From: []uint32{1, 2}, To: []uint32{2, 1}, Weights: []uint32{5, 7}}
		b := orderedBatch{arcsOfEdges: g.o.arcsOf(e), kind: kind, status: []structures.Status{
			structures.Pending, structures.Pending, structures.Inserted, structures.Pending}}
		_, err = g.tree.Insert(t.Context(), []uint64{keyOf(1, 2)}, []uint64{valueOf(7)})
		require.NoError(t, err)
		require.ErrorIs(t, b.repair(t.Context(), g.tree, context.Canceled), context.Canceled)
		require.NotContains(t, b.status, structures.Pending)
		weights, _, err := g.FindEdges(t.Context(), Edges{From: []uint32{1, 2}, To: []uint32{2, 1}})
		require.NoError(t, err)
		require.Equal(t, []uint32{7, 7}, weights)
		require.NoError(t, g.Close())
	}
}
