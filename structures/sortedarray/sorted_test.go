package sortedarray_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Batches of sorted keys: greater than all keys of the array, with and without room, between them, with equal keys, and
// deleted.
func TestSortedBatches(t *testing.T) {
	d := testdevice.Open(t)
	for _, capacity := range []int{0, 100000} {
		a, want := newArray(t, d, Options{Capacity: capacity}), map[uint32]uint32{}
		insert := func(first, step, n, each int) {
			t.Helper()
			keys, values := make([]uint32, n), make([]uint32, n)
			for i := range keys {
				keys[i], values[i] = uint32(first+i/each*step), uint32(first+7*i)
			}
			status, err := a.Insert(t.Context(), keys, values)
			require.NoError(t, err)
			for i, k := range keys {
				is := structures.Inserted
				if _, there := want[k]; there {
					is = structures.Assigned
				}
				require.Equal(t, is, status[i])
				want[k] = values[i]
			}
			requireContents(t, a, want)
		}
		insert(10, 3, 1001, 1)
		insert(3011, 2, 33, 1)    // greater than all
		insert(3075, 1, 500, 1)   // from the greatest key on
		insert(5000, 1, 1, 1)     // one
		insert(0, 5, 3000, 1)     // among all
		insert(20000, 1, 3000, 3) // equal ones
		insert(30000, 1, 70001, 1)
		keys := []uint32{0, 10, 10, 30000, 200000}
		_, err := a.Delete(t.Context(), keys)
		require.NoError(t, err)
		for _, k := range keys {
			delete(want, k)
		}
		requireContents(t, a, want)
		insert(99990, 2, 40, 1)
		require.NoError(t, a.Clear(t.Context()))
		clear(want)
		insert(5, 1, 100, 1)
		keys, values := batch(random(1), 500, 1<<20, want)
		_, err = a.Insert(t.Context(), keys, values)
		require.NoError(t, err)
		insert(int(slices.Max(keys)), 1, 50, 1)
		insert(int(slices.Max(keys))/2, 1, 50, 1)
	}
}

// Sorted pairs for which there is room take no scratch memory, because nothing is sorted or merged.
func TestSortedBatchesTakeNoScratch(t *testing.T) {
	d := testdevice.Open(t)
	const n = 1 << 16
	a := newArray(t, d, Options{Capacity: 4 * n})
	before, err := a.Inspect().Stats(t.Context())
	require.NoError(t, err)
	keys := make([]uint32, n)
	for part := range 4 {
		for i := range keys {
			keys[i] = uint32(part*n + i)
		}
		require.NoError(t, a.UpdateInto(t.Context(), structures.Insert, keys, keys, nil))
	}
	after, err := a.Inspect().Stats(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 4*n, after.Pairs)
	require.Equal(t, before.Bytes, after.Bytes)
}

// Build of ascending pairs does not sort them, and takes only their own memory. Build of other pairs sorts them.
func TestBuildOfSorted(t *testing.T) {
	const n = 1 << 20
	d := testdevice.Open(t, vk.Options{MemoryLimit: 20 << 20})
	keys := make([]uint32, n)
	for i := range keys {
		keys[i] = uint32(3 * i)
	}
	a, err := Build(t.Context(), d, keys, keys, Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, a.Close()) }()
	count, err := a.Count(t.Context(), []structures.Range[uint32]{{Lo: 3, Hi: 3 * (n - 1)}, {Lo: 4, Hi: 5}})
	require.NoError(t, err)
	require.Equal(t, []uint32{n - 1, 0}, count)
	values, found, err := a.Find(t.Context(), []uint32{0, 3*n - 3, 3*n - 4})
	require.NoError(t, err)
	require.Equal(t, []bool{true, true, false}, found)
	require.Equal(t, []uint32{0, 3*n - 3}, values[:2])

	for _, keys := range [][]uint32{{5}, {1, 2, 2, 9}, {9, 2, 1}, {1, 5, 3}} {
		want := map[uint32]uint32{}
		values := make([]uint32, len(keys))
		for i, k := range keys {
			values[i] = uint32(i)
			want[k] = uint32(i)
		}
		b, err := Build(t.Context(), d, keys, values, Options{})
		require.NoError(t, err)
		requireContents(t, b, want)
		require.NoError(t, b.Close())
	}
}
