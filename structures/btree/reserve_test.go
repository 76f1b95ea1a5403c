package btree

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
)

// Up to the reserved number, pairs are inserted without growth of the pool: by both paths, from slices and on streams,
// in orders that leave nodes as empty as possible, and into trees of any fill after deletions.
func TestReserve(t *testing.T) {
	pass.OneDriver(t, "the host reckons the room")
	const there, n, onStream = 6_000, 14_000, 4000
	d := openDevice(t)
	for _, path := range []Path{Concurrent, Batched} {
		for _, fill := range []float64{1e-9, 0, 1} {
			for order, keys := range map[string][]uint32{
				"ascending": ramp(n, 7, 5), "descending": reversed(ramp(n, 7, 5)), "random": uniqueKeys(random(3), n),
			} {
				t.Run(fmt.Sprintf("%v/%g/%s", path, fill, order), func(t *testing.T) {
					before := ramp(there, 3, 100)
					tree := buildTree(t, d, before, before, Options{Path: path, Fill: fill})
					_, err := tree.Delete(t.Context(), before[:there/2])
					require.NoError(t, err)
					want := model{}.insert(before[there/2:], before[there/2:])
					all := len(want)
					for _, key := range keys {
						if _, is := want[key]; !is {
							all++
						}
					}
					require.NoError(t, tree.Reserve(t.Context(), len(want)+n))
					growths, bytes := tree.Metrics().Growths, tree.Pool.Bytes()
					first := 0
					for _, count := range []int{1, 1500, 50, 5000, onStream, n} {
						some := keys[first:min(first+count, n)]
						first += len(some)
						if count == onStream {
							s := testdevice.Stream(t, d)
							b := structures.DeviceBatch{Count: len(some), Keys: testdevice.Upload(t, d, some),
								Values: testdevice.Upload(t, d, some)}
							require.NoError(t, tree.On(s).Update(t.Context(), structures.Insert, b))
							require.NoError(t, tree.On(s).Finish(t.Context(), structures.Insert, b))
						} else {
							_, err = tree.Insert(t.Context(), some, some)
							require.NoError(t, err)
						}
						want.insert(some, some)
					}
					require.Len(t, want, all)
					require.Equal(t, [2]uint64{growths, bytes}, [2]uint64{tree.Metrics().Growths, tree.Pool.Bytes()})
					require.NoError(t, tree.Check(t.Context()))
					requireTree(t, tree, want)
				})
			}
		}
	}
}

// In a shared pool, reserved slabs stay free as long as others take none.
func TestReserveInASharedPool(t *testing.T) {
	pass.OneDriver(t, "the host reckons the room")
	const n = 20_000
	d := openDevice(t)
	for _, path := range []Path{Concurrent, Batched} {
		pool := sharedPool(t, d, alloc.PoolOptions{})
		tree, other := newTree(t, d, Options{Pool: pool, Path: path}), newTree(t, d, Options{Pool: pool})
		require.NoError(t, tree.Reserve(t.Context(), n))
		growths := pool.Growths()
		keys := ramp(n, 5, 3)
		for some := range slices.Chunk(keys, 3000) {
			_, err := tree.Insert(t.Context(), some, some)
			require.NoError(t, err)
			_, err = other.Delete(t.Context(), some)
			require.NoError(t, err)
		}
		require.Equal(t, growths, pool.Growths(), path)
		requireTree(t, tree, model{}.insert(keys, keys))
		require.NoError(t, tree.Check(t.Context()))
		require.NoError(t, tree.Close())
		require.NoError(t, other.Close())
		require.Zero(t, allocated(t, pool))
	}
}
