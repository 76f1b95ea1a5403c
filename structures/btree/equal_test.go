package btree

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/ordercheck"
	"github.com/vkds/vkds/vk"
)

// Equal keys count in the batch's order even if operations run out of visits and are done later, in the first pass over
// a chunk or in the pass that stores the result.
func TestEqualKeysOverBudget(t *testing.T) {
	pipeline.InChunksOf(250)
	t.Cleanup(func() { pipeline.InChunksOf(0) })
	eachProtocol(t, func(t *testing.T, d *vk.Device, tile int) {
		tree := newTree(t, d, Options{Path: Concurrent, Tile: tile})
		retried := 0
		for name, keys := range ordercheck.Batches(rand.New(rand.NewPCG(3, uint64(tile))), 700) {
			t.Run(name, func(t *testing.T) {
				require.NoError(t, tree.Clear(t.Context()))
				all := map[uint32]uint32{}
				for batch, insert := range []func([]uint32, []uint32) ([]structures.Status, error){
					func(k, v []uint32) ([]structures.Status, error) { return tree.InsertUnique(t.Context(), k, v) },
					func(k, v []uint32) ([]structures.Status, error) { return tree.Insert(t.Context(), k, v) },
				} {
					for visits := range uint32(3) {
						tree.visits = visits + 1
						retries := tree.Metrics().Retries
						values := ordercheck.Values(len(keys), uint32(batch)<<4+visits)
						statuses, err := insert(keys, values)
						require.NoError(t, err)
						kind := []structures.Kind{structures.InsertUnique, structures.Insert}[batch]
						ordercheck.Do(t, all, kind, keys, values, statuses)
						ordercheck.Holds(t.Context(), t, tree, all, keys)
						if tree.Metrics().Retries != retries {
							retried++
						}
						require.Equal(t, visits+1, tree.visits, "behind a call that has raised them")
					}
				}
			})
		}
		require.NotZero(t, retried, "the budget always sufficed")
		require.NoError(t, tree.Check(t.Context()))
	})
}
