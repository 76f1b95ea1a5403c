package btree

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// eachQueryShape runs a test with shapes that need different kernels: tiles of all widths, nodes read in one part and
// in two, with and without a prefix index, and with partitioned keys.
func eachQueryShape(t *testing.T, tree *dictionary[uint32], test func(t *testing.T)) {
	best := tree.queries
	for tile := 1; tile <= min(maxTile, tree.Device.SubgroupSize()); tile *= 2 {
		for _, parts := range []int{1, 2} {
			for _, bits := range []int{0, 5, 16} {
				if parts == 2 && (tile >= 8 || bits == 16) || tile > 2 && bits == 16 {
					continue
				}
				shape := queryShape{
					find: tile, seek: tile, walk: tile, parts: parts, indexBits: bits,
					partBits:   best.partBits,
					partsOfFew: best.partsOfFew,
				}
				t.Run(fmt.Sprintf("tile%d/parts%d/index%d", tile, parts, bits), func(t *testing.T) {
					tree.queries = shape
					defer func() { tree.queries = best }()
					test(t)
					if bits == 5 && parts == 1 {
						inOrder(tree, func() { test(t) })
					}
				})
			}
		}
	}
}

// inOrder partitions neighbors and ranges first while do runs.
func inOrder[W structures.Word](tree *dictionary[W], do func()) {
	usual := tree.queries
	tree.queries.order, tree.queries.partsOfFew = structures.SortedFirst, 0
	defer func() { tree.queries = usual }()
	do()
}

// asked returns keys of a tree, their neighbors, the ends, and random keys.
func asked[W structures.Word](keys []W, n int) []W {
	rng := random(77)
	q := []W{0, 1, 2, ^W(0), ^W(0) - 1}
	for len(q) < n {
		k := W(rng.Uint64())
		if len(keys) != 0 && len(q)%4 != 0 {
			k = keys[rng.IntN(len(keys))] + W(len(q)%4) - 2
		}
		q = append(q, k)
	}
	return q
}

func requireFind[W structures.Word](t testing.TB, tree *dictionary[W], queries []W, want modelOf[W]) {
	t.Helper()
	values, found, err := tree.Find(t.Context(), queries)
	require.NoError(t, err)
	for i, k := range queries {
		v, there := want[k]
		if v != values[i] || there != found[i] {
			t.Fatalf("query %d, key %#x: %d, %v instead of %d, %v", i, k, values[i], found[i], v, there)
		}
	}
}

func TestFind(t *testing.T) {
	d := openDevice(t)
	rng := random(1)
	keys := uniqueKeys(rng, 20000)
	for i := range keys[:5000] { // a cluster: the prefix index is of no use there
		keys[i] = 0x40000000 + uint32(i)*3
	}
	values := randomWords(rng, len(keys))
	want := model{}.insert(keys, values)
	tree := buildTree(t, d, keys, values, Options{})
	queries := asked(keys, 20001)
	eachQueryShape(t, tree, func(t *testing.T) { requireFind(t, tree, queries, want) })
}

func TestFindInSmallTrees(t *testing.T) {
	tree := newTree(t, openDevice(t), Options{})
	for _, n := range []int{0, 1, 2, 7, 8, 100} {
		for _, fill := range []float64{0.01, 1} {
			keys := uniqueKeys(random(uint64(n)), n)
			values := randomWords(random(2), n)
			tree.o.Fill = fill
			rebuild(t, tree, keys, values)
			requireFind(t, tree, asked(keys, 300), model{}.insert(keys, values))
		}
	}
}

func TestFindOn(t *testing.T) {
	d := openDevice(t)
	rng := random(3)
	keys := uniqueKeys(rng, 3000)
	values := randomWords(rng, len(keys))
	clear(values[:1000]) // these keys are in the tree with the value 0
	want := model{}.insert(keys, values)
	tree := buildTree(t, d, keys, values, Options{})
	s := testdevice.Stream(t, d)
	for name, queries := range map[string][]uint32{"any": asked(keys, 5001), "equal": slices.Repeat(keys[:1], 5001),
		"close together": ramp(5001, keys[1], 1)} {
		in := testdevice.Upload(t, d, queries)
		for _, order := range []structures.LookupOrder{structures.AutoOrder, structures.OneByOne,
			structures.SortedFirst} {
			for _, n := range []int{0, 1, 2, 3, 4, 4097, len(queries)} {
				outValues, found := testdevice.Room[uint32](t, d, n+1),
					testdevice.Room[uint8](t, d, recording.Padded(n)+4)
				s.Fill(outValues, n, 1, 77) // these must not change
				s.Fill(found, recording.Padded(n), 4, 77)
				l := structures.DeviceLookups{Count: n, Keys: in, Values: outValues, Found: found, Order: order}
				require.NoError(t, tree.On(s).Find(l))
				require.NoError(t, s.Wait(t.Context()))
				got, there := testdevice.Download(t, outValues, n+1), testdevice.Download(t, found, found.Len())
				for i, k := range queries[:n] {
					v, ok := want[k]
					if got[i] != v || (there[i] == 1) != ok {
						t.Fatalf("%s, order %d, query %d of %d, key %#x: %d, %d instead of %d, %v", name, order, i, n,
							k, got[i], there[i], v, ok)
					}
				}
				require.Equal(t, []uint32{77, 77}, []uint32{got[n], uint32(there[recording.Padded(n)])},
					"behind the answers")
			}
		}
	}
	var length *structures.LengthError
	require.ErrorAs(t, tree.On(s).Find(structures.DeviceLookups{Count: 1}), &length)
	var count *structures.CountError
	require.ErrorAs(t, tree.On(s).Find(structures.DeviceLookups{Count: -1}), &count)
}

// A prefix index with more entries than are made in one step, as partitioned lookups use it in large trees.
func TestFindByAFinePrefixIndex(t *testing.T) {
	d := openDevice(t)
	keys := uniqueKeys(random(5), 30000)
	for i := range keys[:10000] {
		keys[i] = 0x12345678 + uint32(i)
	}
	values := randomWords(random(6), len(keys))
	tree := buildTree(t, d, keys, values, Options{})
	tree.queries.indexBits = maxIndexBits + 1
	requireFind(t, tree, asked(keys, 30001), model{}.insert(keys, values))
}

// Which order and which prefix index lookups choose.
func TestLookupOrder(t *testing.T) {
	tree := newTree(t, openDevice(t), Options{})
	require.False(t, tree.inOrder(1<<26, structures.OneByOne))
	require.True(t, tree.inOrder(1, structures.SortedFirst))
	require.False(t, tree.inOrder(1<<26, structures.AutoOrder), "a small tree")
	require.Zero(t, tree.orderedIndexBits(1<<26))
	tree.known.nodes = 10_000_000
	require.False(t, tree.inOrder(1<<22, structures.AutoOrder), "few lookups")
	require.Equal(t, tree.Device.Info().Type != vk.CPU, tree.inOrder(1<<26, structures.AutoOrder))
	require.Equal(t, tree.Device.Info().Type != vk.CPU, tree.rangesInOrder(1<<22), "ranges")
	require.False(t, tree.rangesInOrder(1<<21), "few ranges")
	require.False(t, tree.windowsInOrder(1<<21, 31), "short windows")
	require.Equal(t, tree.Device.Info().Type != vk.CPU, tree.windowsInOrder(1<<21, 32), "long windows")
	require.Equal(t, maxIndexBits, tree.indexBits(1<<26))
	require.Equal(t, 23, tree.orderedIndexBits(1<<26))
	require.Equal(t, 20, tree.orderedIndexBits(1<<22))
	require.Equal(t, maxConcurrentIndexBits, tree.concurrentIndexBits(1<<26))
	require.Equal(t, 18, tree.concurrentIndexBits(1<<20))
}

func TestQueriesOfAClosedTree(t *testing.T) {
	d := openDevice(t)
	tree, err := Build[uint32, uint32](t.Context(), d, nil, nil, Options{})
	require.NoError(t, err)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = tree.Find(done, []uint32{1})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, tree.Close())
	_, _, err = tree.Find(t.Context(), []uint32{1})
	require.ErrorIs(t, err, vk.ErrClosed)
	require.ErrorIs(t, tree.On(nil).Find(structures.DeviceLookups{}), vk.ErrClosed)
}
