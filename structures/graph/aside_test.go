package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/testdevice"
)

// Others that share a pool with a graph get all of it, also what the pool has set aside for the graph's hubs.
func TestOthersGetWhatIsSetAside(t *testing.T) {
	d := testdevice.Open(t)
	const blocks = 16
	fresh := func() *alloc.SlabPool {
		p, err := alloc.NewSlabPool(t.Context(), d, alloc.PoolOptions{Blocks: blocks})
		require.NoError(t, err)
		bytes := p.Bytes()
		require.NoError(t, p.Close())
		p, err = alloc.NewSlabPool(t.Context(), d, alloc.PoolOptions{Blocks: blocks, MaxBytes: bytes})
		require.NoError(t, err)
		g, err := graph.New(t.Context(), d, graph.Options{Pool: p})
		require.NoError(t, err)
		t.Cleanup(func() {
			require.NoError(t, g.Close())
			require.NoError(t, p.Close())
		})
		return p
	}
	const n = 100_000 // keys: about 14,000 of 16,384 slabs
	keys := make([]uint32, n)
	for i := range keys {
		keys[i] = uint32(i) * 2654435761
	}
	for _, path := range []btree.Path{btree.Batched, btree.Concurrent} {
		tree, err := btree.New[uint32, uint32](t.Context(), d, btree.Options{Pool: fresh(), Path: path})
		require.NoError(t, err)
		_, err = tree.Insert(t.Context(), keys, keys)
		require.NoError(t, err)
		require.NoError(t, tree.Close())
	}
	o := slabhash.Options{Pool: fresh(), Buckets: 64, MaxLoad: -1}
	table, err := slabhash.New[uint32, uint32](t.Context(), d, o)
	require.NoError(t, err)
	_, err = table.Insert(t.Context(), keys, keys)
	require.NoError(t, err)
	require.NoError(t, table.Close())
}
