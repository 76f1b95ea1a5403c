package btree

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// kept is a snapshot and its expected content.
type kept[W structures.Word] struct {
	view *viewOf[W]
	want modelOf[W]
}

// requireView compares the results of all queries of a snapshot with its expected content.
func requireView[W structures.Word](t testing.TB, k kept[W], rng *rand.Rand, what string) {
	t.Helper()
	ctx, v := t.Context(), k.view
	keys, values := k.want.sorted()
	n, err := v.view.Total(ctx)
	require.NoError(t, err)
	require.EqualValues(t, len(keys), n, "%s: length", what)
	all, err := v.Range(ctx, []structures.Range[W]{{Hi: ^W(0)}})
	require.NoError(t, err)
	same(t, keys, all.Keys, what+": keys of the range")
	same(t, values, all.Values, what+": values")

	asked := make([]W, 300)
	for i := range asked {
		asked[i] = W(rng.Uint64())
		if i%2 == 0 && len(keys) != 0 {
			asked[i] = keys[rng.IntN(len(keys))] + W(i%3) - 1
		}
	}
	asked[0], asked[1] = 0, ^W(0)
	got, found, err := v.Find(ctx, asked)
	require.NoError(t, err)
	above, err := v.Neighbor(ctx, structures.Successor, asked)
	require.NoError(t, err)
	below, err := v.Neighbor(ctx, structures.Floor, asked)
	require.NoError(t, err)
	ranks, err := v.Rank(ctx, asked)
	require.NoError(t, err)
	for i, key := range asked {
		value, there := k.want[key]
		require.Equal(t, there, found[i], "%s: %#x is there", what, key)
		require.Equal(t, value, got[i], "%s: value of %#x", what, key)
		at, exact := slices.BinarySearch(keys, key)
		require.EqualValues(t, at, ranks[i], "%s: rank of %#x", what, key)
		next := at
		if exact {
			next++
		}
		require.Equal(t, next < len(keys), above.Found[i], "%s: successor of %#x", what, key)
		if next < len(keys) {
			require.Equal(t, [2]W{keys[next], values[next]}, [2]W{above.Keys[i], above.Values[i]}, what)
		}
		require.Equal(t, next > 0, below.Found[i], "%s: floor of %#x", what, key)
		if next > 0 {
			require.Equal(t, [2]W{keys[next-1], values[next-1]}, [2]W{below.Keys[i], below.Values[i]}, what)
		}
	}
	counts, err := v.Count(ctx, []structures.Range[W]{{Hi: ^W(0)}, {Lo: asked[2], Hi: asked[2]}})
	require.NoError(t, err)
	require.EqualValues(t, len(keys), counts[0], what)
	selected, err := v.Select(ctx, []uint32{0, uint32(len(keys) / 2), uint32(len(keys))})
	require.NoError(t, err)
	require.False(t, selected.Found[2], what)
	if len(keys) != 0 {
		require.Equal(t, []W{keys[0], keys[len(keys)/2]}, selected.Keys[:2], what)
	}
}

// requireClosed checks that without snapshots all versions are freed, and the pool has only the tree's nodes.
func requireClosed[W structures.Word](t testing.TB, tree *dictionary[W], want modelOf[W]) {
	t.Helper()
	requireTree(t, tree, want) // Check finds slabs that can't be reached
	require.Empty(t, tree.versions.open)
}

// updateSome does one random batch of updates on a tree and its model. Some batches have many operations on few leaves.
func updateSome[W structures.Word](t testing.TB, tree *dictionary[W], want modelOf[W], rng *rand.Rand, round int) {
	t.Helper()
	n := 1 + rng.IntN(400)
	keys, values := make([]W, n), make([]W, n)
	base := W(rng.Uint64())
	held, _ := want.sorted()
	for i := range keys {
		switch keys[i] = W(rng.Uint64()); {
		case round%3 == 0: // a few leaves
			keys[i] = base + W(rng.IntN(60))
		case i%3 != 0 && len(held) != 0:
			keys[i] = held[rng.IntN(len(held))]
		}
		values[i] = W(rng.Uint64())
	}
	keys[0] = []W{0, ^W(0), base}[rng.IntN(3)]
	if round%4 == 3 {
		_, err := tree.Delete(t.Context(), keys)
		require.NoError(t, err)
		for _, key := range keys {
			delete(want, key)
		}
		return
	}
	_, err := tree.Insert(t.Context(), keys, values)
	require.NoError(t, err)
	want.insert(keys, values)
}

// Snapshots are opened and closed in any order, while batches of both paths change, split and empty leaves. Each keeps
// its content while it is open, and in the end nothing of them is left.
func TestSnapshots(t *testing.T) {
	testSnapshots[uint32](t)
	testSnapshots[uint64](t)
}

func testSnapshots[W structures.Word](t *testing.T) {
	for _, path := range []Path{Concurrent, Batched} {
		t.Run(fmt.Sprintf("%v, %v", path, structures.WidthOf[W]()), func(t *testing.T) {
			d := testdevice.Open(t)
			rng := random(uint64(path) + 10)
			tree, now := newTreeOf[W](t, d, Options{Path: path}), modelOf[W]{}
			updateSome(t, tree, now, rng, 1)
			var open []kept[W]
			for round := range 24 << min(stress.Level, 1) {
				if rng.IntN(3) != 0 {
					v, err := tree.Snapshot(t.Context())
					require.NoError(t, err)
					open = append(open, kept[W]{v, maps.Clone(now)})
				}
				updateSome(t, tree, now, rng, round)
				if len(open) > 4 || rng.IntN(6) == 0 && len(open) != 0 {
					i := rng.IntN(len(open))
					require.NoError(t, open[i].view.Close())
					open = slices.Delete(open, i, i+1)
				}
				if round%8 == 7 {
					for i, k := range open {
						requireView(t, k, rng, fmt.Sprintf("round %d, snapshot %d of time %d", round, i, k.view.Time()))
					}
					require.NoError(t, tree.Check(t.Context()))
				}
			}
			requireTree(t, tree, now)
			for _, k := range open {
				requireView(t, k, rng, "at the end")
				require.NoError(t, k.view.Close())
				require.NoError(t, k.view.Close(), "twice")
				_, _, err := k.view.Find(t.Context(), []W{1})
				require.ErrorIs(t, err, vk.ErrClosed)
			}
			requireClosed(t, tree, now)
		})
	}
}

// Versions that no open snapshot needs are freed. A chain of versions stays while a snapshot needs it: one stays open
// while others are opened and closed.
func TestVersionsAreFreed(t *testing.T) {
	d := testdevice.Open(t)
	rng := random(3)
	tree, now := newTree(t, d, Options{Path: Batched}), model{}
	keys := ramp(500, 0, 7)
	_, err := tree.Insert(t.Context(), keys, keys)
	require.NoError(t, err)
	now.insert(keys, keys)
	first, err := tree.Snapshot(t.Context())
	require.NoError(t, err)
	held := kept[uint32]{first, maps.Clone(now)}
	for range 5 * closedAtOnce {
		v, err := tree.Snapshot(t.Context())
		require.NoError(t, err)
		values := randomWords(rng, len(keys))
		_, err = tree.Insert(t.Context(), keys, values)
		require.NoError(t, err)
		now.insert(keys, values)
		require.NoError(t, v.Close())
	}
	requireView(t, held, rng, "held")
	require.NoError(t, tree.prune(t.Context()))
	leaves := 0
	nodes, err := tree.Nodes(t.Context())
	require.NoError(t, err)
	for _, n := range nodes {
		if n.Level == 0 {
			leaves++
		}
	}
	require.LessOrEqual(t, tree.versions.used, leaves, "one version a leaf is needed")
	require.NotZero(t, tree.versions.used)
	require.Less(t, tree.versions.memory.count(), (2*closedAtOnce+2)*2*leaves, "chains have grown")
	requireView(t, held, rng, "held, behind the freeing")
	require.NoError(t, first.Close())
	requireClosed(t, tree, now)
}

// While a snapshot is open, calls that rebuild the nodes are refused, and calls that empty the tree keep its content
// for the snapshot.
func TestSnapshotsAndRemaking(t *testing.T) {
	d := testdevice.Open(t)
	tree, want := newTree(t, d, Options{}), model{}
	keys := uniqueKeys(random(1), 300)
	_, err := tree.Insert(t.Context(), keys, keys)
	require.NoError(t, err)
	want.insert(keys, keys)
	v, err := tree.Snapshot(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, tree.Compact(t.Context(), 0), ErrSnapshots)
	s := testdevice.Stream(t, d)
	require.ErrorIs(t, tree.On(s).Build(t.Context(), structures.DeviceBatch{}), ErrSnapshots)
	require.NoError(t, tree.Clear(t.Context()))
	requireTree(t, tree, model{})
	requireView(t, kept[uint32]{v, want}, random(2), "behind Clear")
	_, err = tree.Insert(t.Context(), keys[:100], keys[100:200])
	require.NoError(t, err)
	counts, err := tree.DeleteRange(t.Context(), []structures.Range[uint32]{{Hi: ^uint32(0)}})
	require.NoError(t, err)
	require.Equal(t, []uint32{100}, counts)
	requireView(t, kept[uint32]{v, want}, random(2), "behind DeleteRange")
	require.NoError(t, v.Close())
	require.NoError(t, tree.Compact(t.Context(), 0))
	requireClosed(t, tree, model{})
}

// On streams: queries at a snapshot run after the submitted updates of other streams, and updates after such queries.
// If the work was not submitted, the call returns vk.ErrUnsubmitted.
func TestSnapshotsOnStreams(t *testing.T) {
	d := testdevice.Open(t)
	tree := newTree(t, d, Options{})
	keys, values := ramp(3000, 0, 3), ramp(3000, 1, 1)
	_, err := tree.Insert(t.Context(), keys, values)
	require.NoError(t, err)
	writer, reader := testdevice.Stream(t, d), testdevice.Stream(t, d)
	asked, changed := testdevice.Upload(t, d, keys), testdevice.Upload(t, d, values)
	found, bytes := testdevice.Room[uint32](t, d, len(keys)), testdevice.Room[uint8](t, d, recording.Padded(len(keys)))
	lookups := structures.DeviceLookups{Count: len(keys), Keys: asked, Values: found, Found: bytes}
	batch := structures.DeviceBatch{Count: len(keys), Keys: asked, Values: changed}
	last := values
	for round := range uint32(6) {
		v, err := tree.Snapshot(t.Context())
		require.NoError(t, err)
		want := last
		last = ramp(len(keys), round*1000, 5)
		require.NoError(t, changed.Upload(t.Context(), 0, last))
		if round%2 == 0 {
			require.NoError(t, tree.On(writer).Update(t.Context(), structures.Insert, batch))
		} else {
			require.NoError(t, tree.On(writer).Apply(structures.Insert, batch))
		}
		require.ErrorIs(t, v.view.On(reader).Find(lookups), vk.ErrUnsubmitted)
		_, err = tree.Snapshot(t.Context())
		require.ErrorIs(t, err, vk.ErrUnsubmitted)
		_, err = writer.Submit()
		require.NoError(t, err)
		require.NoError(t, v.view.On(reader).Find(lookups))
		for range 2 {
			require.ErrorIs(t, tree.On(writer).Update(t.Context(), structures.Insert, batch), vk.ErrUnsubmitted)
			require.ErrorIs(t, tree.On(writer).Apply(structures.Insert, batch), vk.ErrUnsubmitted)
			_, err = tree.Insert(t.Context(), keys, values)
			require.ErrorIs(t, err, vk.ErrUnsubmitted)
			require.NoError(t, v.Close()) // this does not affect the recorded queries
		}
		require.ErrorIs(t, v.view.On(reader).Find(lookups), vk.ErrClosed)
		require.NoError(t, reader.Wait(t.Context()))
		same(t, want, testdevice.Download(t, found, len(keys)), fmt.Sprint("round ", round))
		writer.Discard()
	}
}

// Of leaves without a parent, the pairs in their own ranges are kept, not those in the range of the leaf whose links
// lead to them.
func TestSnapshotsOverOrphans(t *testing.T) {
	d := testdevice.Open(t)
	for _, located := range []bool{false, true} {
		keys := uniqueKeys(random(8), 3000)
		tree := buildTree(t, d, keys, keys, Options{Path: Concurrent})
		orphan(t, tree)
		require.NoError(t, tree.state.Upload(t.Context(), orphansWord, []uint32{1}))
		v, err := tree.Snapshot(t.Context())
		require.NoError(t, err)
		s := testdevice.Stream(t, d)
		values := randomWords(random(9), len(keys))
		b := structures.DeviceBatch{Count: len(keys), Alone: located, Keys: testdevice.Upload(t, d, keys),
			Values: testdevice.Upload(t, d, values)}
		require.NoError(t, tree.On(s).Apply(structures.Insert, b))
		require.NoError(t, s.Wait(t.Context()))
		requireView(t, kept[uint32]{v, model{}.insert(keys, keys)}, random(4), fmt.Sprint("located: ", located))
		require.NoError(t, v.Close())
		require.NoError(t, tree.Grow(t.Context(), 1)) // Grow repairs the inner nodes
		requireTree(t, tree, model{}.insert(keys, values))
	}
}

// The pool grows while snapshots are open: the versions of earlier leaves are kept.
func TestSnapshotsInGrowingPool(t *testing.T) {
	pass.OneDriver(t, "the host reckons the room for versions")
	for _, path := range []Path{Concurrent, Batched} {
		d := testdevice.Open(t)
		rng := random(5)
		tree, now := newTree(t, d, Options{Path: path}), model{}
		update := func(keys []uint32) {
			values := randomWords(rng, len(keys))
			_, err := tree.Insert(t.Context(), keys, values)
			require.NoError(t, err)
			now.insert(keys, values)
		}
		keys := uniqueKeys(rng, 2000)
		update(keys)
		blocks := tree.blocks()
		var open []kept[uint32]
		for round := range 3 {
			v, err := tree.Snapshot(t.Context())
			require.NoError(t, err)
			open = append(open, kept[uint32]{v, maps.Clone(now)})
			update(keys[:500])
			if round == 1 {
				update(uniqueKeys(rng, 12000))
			}
		}
		require.Greater(t, tree.blocks(), blocks)
		for i, k := range open {
			requireView(t, k, rng, fmt.Sprintf("%v, snapshot %d", path, i))
			require.NoError(t, k.view.Close())
		}
		requireClosed(t, tree, now)
	}
}
