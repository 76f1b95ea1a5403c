package btree

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
)

// neighborOf is the expected result: the index of a key's neighbor among sorted keys, or -1.
func neighborOf[W structures.Word](sorted []W, to structures.Direction, key W) int {
	at, there := slices.BinarySearch(sorted, key)
	switch to {
	case structures.Successor:
		if there {
			at++
		}
	case structures.Predecessor:
		at--
	case structures.Floor:
		if !there {
			at--
		}
	}
	if at >= len(sorted) {
		return -1
	}
	return at
}

func requireNeighbors[W structures.Word](t testing.TB, tree *dictionary[W], queries []W, want modelOf[W]) {
	t.Helper()
	keys, values := want.sorted()
	for to := structures.Successor; to <= structures.Ceil; to++ {
		got, err := tree.Neighbor(t.Context(), to, queries)
		require.NoError(t, err)
		for i, q := range queries {
			var key, value W
			at := neighborOf(keys, to, q)
			if at >= 0 {
				key, value = keys[at], values[at]
			}
			if got.Found[i] != (at >= 0) || got.Keys[i] != key || got.Values[i] != value {
				t.Fatalf("%v of %#x: %#x, %d, %v instead of %#x, %d, %v", to, q, got.Keys[i], got.Values[i],
					got.Found[i], key, value, at >= 0)
			}
		}
	}
	key, value, found, err := numbers.Least(t.Context(), tree)
	require.NoError(t, err)
	require.Equal(t, len(keys) > 0, found)
	if found {
		require.Equal(t, []W{keys[0], values[0]}, []W{key, value})
	}
	key, value, found, err = numbers.Greatest(t.Context(), tree)
	require.NoError(t, err)
	require.Equal(t, len(keys) > 0, found)
	if found {
		require.Equal(t, []W{keys[len(keys)-1], values[len(keys)-1]}, []W{key, value})
	}
}

func TestNeighbors(t *testing.T) {
	d := openDevice(t)
	rng := random(5)
	keys := uniqueKeys(rng, 9000)
	values := randomWords(rng, len(keys))
	tree := buildTree(t, d, keys, values, Options{})
	queries := asked(keys, 9001)
	eachQueryShape(t, tree, func(t *testing.T) { requireNeighbors(t, tree, queries, model{}.insert(keys, values)) })
}

func TestNeighborOn(t *testing.T) {
	d := openDevice(t)
	keys := uniqueKeys(random(7), 3000)
	values := randomWords(random(8), len(keys))
	clear(values[:1000])
	want := model{}.insert(keys, values)
	tree := buildTree(t, d, keys, values, Options{})
	sorted, sortedValues := want.sorted()
	s := testdevice.Stream(t, d)
	queries := asked(keys, 5001)
	in := testdevice.Upload(t, d, queries)
	test := func() {
		for _, n := range []int{0, 1, 2, 3, 4, 4097, len(queries)} {
			outKeys, outValues := testdevice.Room[uint32](t, d, n+1), testdevice.Room[uint32](t, d, n+1)
			status, left := testdevice.Room[uint8](t, d, recording.Padded(n)+4), testdevice.Room[uint32](t, d, 1)
			s.Fill(outKeys, n, 1, 77) // these must not change
			s.Fill(outValues, n, 1, 77)
			s.Fill(status, recording.Padded(n), 4, 77)
			s.Fill(left, 0, 1, 5)
			require.NoError(t, tree.On(s).Neighbor(structures.Predecessor, structures.DeviceNeighbors{
				Count: n, Keys: in, OutKeys: outKeys, OutValues: outValues, Status: status, Left: left,
			}))
			require.NoError(t, s.Wait(t.Context()))
			gotKeys, gotValues, statuses := testdevice.Download(t, outKeys, n+1),
				testdevice.Download(t, outValues, n+1), testdevice.Download(t, status, status.Len())
			for i, q := range queries[:n] {
				key, value, said := uint32(0), uint32(0), structures.Absent
				if at := neighborOf(sorted, structures.Predecessor, q); at >= 0 {
					key, value, said = sorted[at], sortedValues[at], structures.Found
				}
				if gotKeys[i] != key || gotValues[i] != value || structures.Status(statuses[i]) != said {
					t.Fatalf("query %d of %d, below %#x: %#x, %d, %d instead of %#x, %d, %d", i, n, q, gotKeys[i],
						gotValues[i], statuses[i], key, value, said)
				}
			}
			behind := []uint32{gotKeys[n], gotValues[n], uint32(statuses[recording.Padded(n)]),
				testdevice.Download(t, left, 1)[0]}
			require.Equal(t, []uint32{77, 77, 77, 5}, behind, "behind the answers, and left")
		}
	}
	test()
	inOrder(tree, test)
}

// If a search may visit too few leaves, it is left pending, with the key at which it continues. With enough visits it
// completes.
func TestNeighborsGivenUpOnTheWay(t *testing.T) {
	d := openDevice(t)
	keys := uniqueKeys(random(9), 9000)
	tree := buildTree(t, d, keys, keys, Options{Capacity: 1})
	_, err := tree.Delete(t.Context(), keys[30:]) // now nearly all leaves are empty
	require.NoError(t, err)
	sorted := slices.Sorted(slices.Values(keys[:30]))
	asked := keys[30:1030]
	s, in := testdevice.Stream(t, d), testdevice.Upload(t, d, asked)
	for _, to := range []structures.Direction{structures.Ceil, structures.Predecessor} {
		n := len(asked)
		b := structures.DeviceNeighbors{Count: n, Keys: in, OutKeys: testdevice.Room[uint32](t, d, n),
			OutValues: testdevice.Room[uint32](t, d, n), Status: testdevice.Room[uint8](t, d, recording.Padded(n)),
			Left: testdevice.Room[uint32](t, d, 1)}
		s.Fill(b.Left, 0, 1, 0)
		require.NoError(t, tree.Using(s, func() error {
			return tree.newest().Neighbors(s, to, ordered.Neighbors{
				Keys: in.Address(), OutKeys: b.OutKeys.Address(), OutValues: b.OutValues.Address(),
				Status: b.Status.Address(), Left: b.Left.Address(), N: n, Visits: 3,
			})
		}))
		require.NoError(t, s.Wait(t.Context()))
		status, pending := testdevice.Download(t, b.Status, n), 0
		for i, key := range testdevice.Download(t, b.OutKeys, n) {
			if structures.Status(status[i]) != structures.Pending {
				continue
			}
			pending++
			if to == structures.Ceil {
				require.Greater(t, key, asked[i], "the key that search %d goes on from", i)
			} else {
				require.Less(t, key, asked[i], "the key that search %d goes on from", i)
			}
		}
		require.Greater(t, pending, n/2)
		require.Less(t, pending, n)
		require.EqualValues(t, pending, testdevice.Download(t, b.Left, 1)[0])
		require.NoError(t, tree.On(s).FinishNeighbors(t.Context(), to, b))
		for i, key := range testdevice.Download(t, b.OutKeys, n) {
			at := neighborOf(sorted, to, asked[i])
			if at < 0 {
				require.Zero(t, key)
			} else {
				require.Equal(t, sorted[at], key, "%v of %d", to, asked[i])
			}
		}
	}
}

func TestNeighborsInSmallTrees(t *testing.T) {
	tree := newTree(t, openDevice(t), Options{})
	for n, keys := range [][]uint32{nil, {0}, {^uint32(0)}, {7}, {0, ^uint32(0)}, {1, ^uint32(0) - 1},
		ramp(40, 100, 1)} {
		values := randomWords(random(uint64(n)), len(keys))
		rebuild(t, tree, keys, values)
		requireNeighbors(t, tree, asked(keys, 200), model{}.insert(keys, values))
	}
}

// emptyLeaves empties leaves of a tree, as deletions do, and updates the model.
func emptyLeaves[W structures.Word](t testing.TB, tree *dictionary[W], want modelOf[W], which func(leaf int) bool) {
	t.Helper()
	nodes, err := tree.Nodes(t.Context())
	require.NoError(t, err)
	var words []poked
	leaf := 0
	for _, n := range nodes {
		if n.Level != 0 {
			continue
		}
		emptyKey := ^W(0)
		if n.High == emptyKey {
			emptyKey = 0
		}
		if which(leaf) {
			for slot := range tree.geometry().slots {
				words = append(words, pairIn(n.Ref, slot, emptyKey, emptyValue[W](3))...)
			}
			for _, k := range n.Keys {
				delete(want, k)
			}
		}
		leaf++
	}
	poke(t, tree, words...)
}

// orphan removes separators from their parents, the last one of each node, so that the children are reached only by
// side links, as after a batch that ended between a split and the insertion of its separator.
func orphan[W structures.Word](t testing.TB, tree *dictionary[W]) {
	t.Helper()
	nodes, err := tree.Nodes(t.Context())
	require.NoError(t, err)
	var words []poked
	for _, n := range nodes {
		if used := len(n.Keys); n.Level != 0 && used > 1 {
			for slot := used - 1; slot < tree.geometry().slots; slot++ {
				words = append(words, pairIn(n.Ref, slot, n.Keys[used-2], n.Values[used-2])...)
			}
		}
	}
	poke(t, tree, words...)
}

// A tree as updates may leave it, with more consecutive empty leaves than a search reads in one dispatch.
func TestQueriesInRavagedTrees(t *testing.T) {
	t.Run("32", testQueriesInRavagedTrees[uint32])
	t.Run("64", testQueriesInRavagedTrees[uint64])
}

func testQueriesInRavagedTrees[W structures.Word](t *testing.T) {
	d := openDevice(t)
	rng := random(6)
	keys := widened[W](uniqueKeys(rng, 4000))
	values := widened[W](randomWords(rng, len(keys)))
	want := modelOf[W]{}.insert(keys, values)
	tree := buildTree(t, d, keys, values, Options{})
	queries := asked(keys, 3000)
	ravage(t, tree, want)
	requireQueries(t, tree, queries, want)
	orphan(t, tree)
	requireQueries(t, tree, queries, want)

	rebuild(t, tree, keys, values)
	want = modelOf[W]{}.insert(keys, values)
	emptyLeaves(t, tree, want, func(leaf int) bool { return leaf%100 != 50 })
	requireQueries(t, tree, queries, want)
	emptyLeaves(t, tree, want, func(leaf int) bool { return true })
	require.Empty(t, want)
	requireQueries(t, tree, queries[:100], want)
}

// A pool of several super blocks, in which references are not offsets.
func TestQueriesInSuperBlocks(t *testing.T) {
	pass.NotWidest(t, "TestSharedPool has super blocks at 16 lanes")
	d := openDevice(t)
	tree := newTree(t, d, Options{})
	require.NoError(t, tree.Pool.Close())
	var err error
	tree.Pool, err = slabs.New(t.Context(), d, slabs.Options{SuperShift: 2})
	require.NoError(t, err)
	keys := uniqueKeys(random(16), 60000)
	values := randomWords(random(17), len(keys))
	rebuild(t, tree, keys, values)
	require.False(t, tree.Pool.Light())
	want := model{}.insert(keys, values)
	ravage(t, tree, want)
	queries := asked(keys, 5000)
	requireQueries(t, tree, queries, want)
	requireBatch(t, tree, queryBatch(random(18), keys, 3000, 10, 8), want)
	requireRanges(t, tree, someRanges(keys, 300, 40), want)
	deviceRanges(t, tree, someRanges(keys, 300, 10), 8, want)
}

func requireQueries[W structures.Word](t testing.TB, tree *dictionary[W], queries []W, want modelOf[W]) {
	t.Helper()
	requireFind(t, tree, queries, want)
	requireNeighbors(t, tree, queries, want)
	inOrder(tree, func() { requireNeighbors(t, tree, queries, want) })
}
