package btree

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// sharedPool is a pool until the test's end, with slabs of nobody's in it, which stay as they are.
func sharedPool(t testing.TB, d *vk.Device, o alloc.PoolOptions) *alloc.SlabPool {
	t.Helper()
	pool, err := alloc.NewSlabPool(t.Context(), d, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	return pool
}

// allocated is how many slabs of a pool are in use.
func allocated(t testing.TB, pool *alloc.SlabPool) int {
	t.Helper()
	stats, err := pool.Stats(t.Context())
	require.NoError(t, err)
	return stats.Allocated
}

// Two trees and a hash table in one pool, whose slabs go from one to the other: each has what its model says, and none
// what is another's. The pool is a block at first, and grows at any call.
func TestSharedPool(t *testing.T) {
	d := openDevice(t)
	for _, shift := range []int{0, 2} {
		t.Run(fmt.Sprintf("super blocks of %d", shift), func(t *testing.T) {
			pool := sharedPool(t, d, alloc.PoolOptions{SuperShift: shift})
			rng := random(uint64(shift))
			var trees []*Tree
			for _, path := range []Path{AutoPath, Concurrent, Batched} {
				trees = append(trees, newTree(t, d, Options{Pool: pool, Path: path}))
			}
			table, err := slabhash.New(t.Context(), d, slabhash.Options{Pool: pool, Buckets: 64, MaxLoad: -1})
			require.NoError(t, err)
			defer func() { require.NoError(t, table.Close()) }()
			models := []model{{}, {}, {}, {}}
			holds := func() {
				t.Helper()
				nodes := 0
				for i, tree := range trees {
					require.NoError(t, tree.Check(t.Context()), "tree %d", i)
					requireTree(t, tree, models[i])
					requireExport(t, tree, models[i])
					nodes += int(requireStats(t, tree).Nodes)
				}
				keys, values := models[3].sorted()
				got, found, err := table.Find(t.Context(), keys)
				require.NoError(t, err)
				require.NotContains(t, found, false)
				same(t, values, got, "the hash table's values")
				stats, err := table.Stats(t.Context())
				require.NoError(t, err)
				require.EqualValues(t, len(keys), stats.Pairs)
				require.EqualValues(t, allocated(t, pool), nodes+int(stats.Slabs)-64, "slabs that nothing leads to")
			}
			for range 10 {
				i := rng.IntN(4)
				n := 1 + rng.IntN(2000)
				keys, values := someKeys(rng, models[i], n), randomWords(rng, n)
				switch do := rng.IntN(4); {
				case i == 3 && do == 0:
					_, err = table.Delete(t.Context(), keys)
					require.NoError(t, err)
					require.NoError(t, table.Rehash(t.Context(), 64))
					models[i].remove(keys)
				case i == 3:
					_, err = table.Insert(t.Context(), keys, values)
					models[i].insert(keys, values)
				case do == 0:
					_, err = trees[i].Delete(t.Context(), keys)
					models[i].remove(keys)
				case do == 1 && rng.IntN(2) == 0:
					err = trees[i].Compact(t.Context(), 0.9)
				case do == 1:
					require.NoError(t, trees[i].Clear(t.Context()))
					models[i] = model{}
					fallthrough
				default:
					_, err = trees[i].Insert(t.Context(), keys, values)
					models[i].insert(keys, values)
				}
				require.NoError(t, err)
				holds()
			}
			require.NoError(t, trees[1].Close())
			trees, models = []*Tree{trees[0], trees[2]}, []model{models[0], models[2], {}, models[3]}
			holds()
			for _, tree := range trees {
				require.NoError(t, tree.Close())
			}
			require.NoError(t, table.Close())
			require.Zero(t, allocated(t, pool))
			requireClean(t, pool, d)
		})
	}
}

// someKeys are n keys, some of them of a model.
func someKeys(rng *rand.Rand, m model, n int) []uint32 {
	known, _ := m.sorted()
	keys := make([]uint32, n)
	for i := range keys {
		keys[i] = rng.Uint32()
		if len(known) != 0 && rng.IntN(2) == 0 {
			keys[i] = known[rng.IntN(len(known))]
		}
	}
	return keys
}

func (m model) remove(keys []uint32) {
	for _, key := range keys {
		delete(m, key)
	}
}

// requireClean looks whether each word of a pool's first free slabs is all ones, as hash tables expect: a table that takes
// them all finds no key in any.
func requireClean(t testing.TB, pool *alloc.SlabPool, d *vk.Device) {
	t.Helper()
	table, err := slabhash.New(t.Context(), d, slabhash.Options{Pool: pool, Buckets: 4, MaxLoad: -1})
	require.NoError(t, err)
	defer func() { require.NoError(t, table.Close()) }()
	stats, err := pool.Stats(t.Context())
	require.NoError(t, err)
	keys := ramp(12*min(stats.Slabs, 500), 1, 1)
	_, err = table.Insert(t.Context(), keys, keys)
	require.NoError(t, err)
	got, err := table.Stats(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, len(keys), got.Pairs)
}

// On streams: updates and builds that are recorded, dropped, and run beside a hash table's.
func TestSharedPoolOnStreams(t *testing.T) {
	d := openDevice(t)
	pool := sharedPool(t, d, alloc.PoolOptions{})
	tree := newTree(t, d, Options{Pool: pool})
	table, err := slabhash.New(t.Context(), d, slabhash.Options{Pool: pool, Buckets: 64, MaxLoad: -1})
	require.NoError(t, err)
	defer func() { require.NoError(t, table.Close()) }()
	s, other := testdevice.Stream(t, d), testdevice.Stream(t, d)
	want := model{}
	rng := random(8)
	before := allocated(t, pool)
	for round := range 6 {
		const n = 3000
		keys, values := uniqueKeys(rng, n), randomWords(rng, n)
		b := structures.DeviceBatch{Count: n, Keys: testdevice.Upload(t, d, keys), Values: testdevice.Upload(t, d, values)}
		record := func() {
			if round%3 == 2 {
				require.NoError(t, tree.BuildOn(t.Context(), s, b))
			} else {
				require.NoError(t, tree.UpdateOn(t.Context(), s, structures.Insert, b))
			}
		}
		record()
		s.Discard()
		record()
		hashed := b
		hashed.Left, hashed.Status = testdevice.Upload(t, d, []uint32{0}), testdevice.Room[uint8](t, d, n)
		require.NoError(t, table.ApplyOn(other, structures.Insert, hashed))
		_, err := other.Submit()
		require.NoError(t, err)
		require.NoError(t, s.Wait(t.Context()))
		require.NoError(t, table.Finish(t.Context(), other, structures.Insert, hashed))
		if round%3 == 2 {
			want = model{}
		}
		want.insert(keys, values)
		require.NoError(t, tree.Check(t.Context()))
		requireTree(t, tree, want)
	}
	require.NoError(t, tree.Clear(t.Context()))
	require.NoError(t, table.Clear(t.Context()))
	require.Equal(t, before, allocated(t, pool))
	require.NoError(t, tree.UpdateOn(t.Context(), s, structures.Delete, structures.DeviceBatch{Count: 1, Keys: testdevice.Upload(t, d, []uint32{1})}))
	require.ErrorIs(t, tree.Close(), vk.ErrUnsubmitted)
	s.Discard()
	require.NoError(t, tree.Close())
	require.NoError(t, tree.Close())
}
