package btree

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
)

// TestSumFree compares with the host where new nodes begin, also with more blocks than the workgroup has lanes: then
// one lane sums up two blocks, and another lane writes where the second begins. The last block must have a begin even
// if no free slab follows: with 0, the nodes of the last 1024 numbers would be searched for outside of the pool.
func TestSumFree(t *testing.T) {
	d := testdevice.Open(t)
	r := newBatchRig(t, d, Options{})
	rng := random(77)
	for _, workgroup := range []int{32, 64, 256} {
		for _, blocks := range []int{1, 2, workgroup - 1, workgroup, workgroup + 2, 2*workgroup + 3, 9*workgroup + 5} {
			for _, used := range []int{0, 3, 700, 1025} {
				t.Run(fmt.Sprintf("%d/%d/%d", workgroup, blocks, used), func(t *testing.T) {
					pairs, begins := make([]uint32, 2*(blocks+1)), make([]uint32, blocks+1)
					sums, total := make([]uint32, blocks+1), 0
					for i := range begins {
						begins[i] = uint32(blocks - 1)
					}
					for i := range blocks {
						free := 1024 - rng.IntN(used+1)
						pairs[2*i], sums[i] = uint32(max(free, 0)), uint32(total)
						for k := (total + 1023) / 1024; k*1024 < total+max(free, 0); k++ {
							begins[k] = uint32(i)
						}
						total += max(free, 0)
					}
					sums[blocks] = uint32(total)
					buffer := device(r, pairs)
					defer buffer.Free()
					k, err := recording.Kernel[batchSumPush](r.tree.Kernels, r.stream, "btree/batch_sum_free",
						workgroup,
						recording.OverPool(r.tree.Pool.Constants(), recording.Constant("TILE", 1),
							recording.Constant("BATCH_GROUP", 128))...)
					require.NoError(t, err)
					k.Dispatch(r.stream, 1, batchSumPush{buffer.Address(), uint32(blocks)})
					require.NoError(t, r.stream.Wait(t.Context()))
					got := testdevice.Download(t, buffer, len(pairs))
					for i := range blocks + 1 {
						require.Equal(t, sums[i], got[2*i], "free slabs before block %d of %d", i, blocks)
						require.Equal(t, begins[i], got[2*i+1], "where new node %d begins, of %d blocks", 1024*i,
							blocks)
					}
				})
			}
		}
	}
}

// TestFirstBatchFillsThePool loads an empty tree with one batch, whose new nodes take most of the pool after it has
// grown, including the last block.
func TestFirstBatchFillsThePool(t *testing.T) {
	d := testdevice.Open(t)
	rng := random(78)
	const n = 210_000 // more than 32 blocks: the last block belongs to another subgroup
	tree := newTree(t, d, Options{Path: Batched})
	keys, values := uniqueKeys(rng, n), randomWords(rng, n)
	statuses, err := tree.Insert(t.Context(), keys, values)
	require.NoError(t, err)
	same(t, slices.Repeat([]structures.Status{structures.Inserted}, n), statuses, "statuses")
	require.NoError(t, tree.Check(t.Context()))
	got, found, err := tree.Find(t.Context(), keys)
	require.NoError(t, err)
	same(t, slices.Repeat([]bool{true}, n), found, "found")
	same(t, values, got, "values")
}
