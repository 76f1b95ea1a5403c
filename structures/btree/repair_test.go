package btree

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
)

// The repair restores separators that are missing in the inner nodes of several levels, also if the inner nodes are
// completely wrong.
func TestRepair(t *testing.T) {
	t.Run("32", testRepair[uint32])
	t.Run("64", testRepair[uint64])
}

func testRepair[W structures.Word](t *testing.T) {
	d := openDevice(t)
	tree := newTreeOf[W](t, d, Options{})
	for _, n := range []int{0, 20, 200, 20000} {
		rng := random(uint64(n))
		keys, values := widened[W](uniqueKeys(rng, n)), widened[W](randomWords(rng, n))
		rebuild(t, tree, keys, values)
		want := modelOf[W]{}.insert(keys, values)
		ravage(t, tree, want)
		nodes, err := tree.Nodes(t.Context())
		require.NoError(t, err)
		// The last separator of some inner nodes is lost: all later slots repeat the one before.
		orphans := 0
		var words []poked
		for _, node := range nodes {
			if used := len(node.Keys); node.Level != 0 && used > 1 && rng.IntN(2) == 0 {
				orphans++
				for slot := used - 1; slot < tree.geometry().slots; slot++ {
					words = append(words, pairIn(node.Ref, slot, node.Keys[used-2], node.Values[used-2])...)
				}
			}
		}
		if n >= 200 {
			require.NotZero(t, orphans)
		}
		if orphans != 0 {
			poke(t, tree, words...)
			require.Equal(t, []Violation{{OrphanRule, uint32(orphans), noSlab}}, violationsOf(t, tree))
			require.NoError(t, tree.state.Upload(t.Context(), orphansWord, []uint32{uint32(orphans)}))
			require.NoError(t, tree.Check(t.Context()), "orphans that the tree knows of")
			requireFind(t, tree, asked(keys, 3000), want) // by side links
		}
		require.NoError(t, tree.repair(t.Context()))
		require.NoError(t, tree.Check(t.Context()))
		requireTree(t, tree, want)
		require.Zero(t, requireStats(t, tree).Orphans)
	}
}

// Inner nodes that have lost all children but the first: all inner nodes, or every second one.
func TestLevelsBySideLinks(t *testing.T) {
	t.Run("32", testLevelsBySideLinks[uint32])
	t.Run("64", testLevelsBySideLinks[uint64])
}

func testLevelsBySideLinks[W structures.Word](t *testing.T) {
	d := openDevice(t)
	const n = 20000
	rng := random(3)
	keys, values := widened[W](uniqueKeys(rng, n)), widened[W](randomWords(rng, n))
	want := modelOf[W]{}.insert(keys, values)
	tree := newTreeOf[W](t, d, Options{})
	for _, every := range []int{1, 2} {
		rebuild(t, tree, keys, values)
		nodes, err := tree.Nodes(t.Context())
		require.NoError(t, err)
		orphans := 0
		var words []poked
		for i, node := range nodes {
			if node.Level == 0 || i%every != 0 {
				continue
			}
			orphans += len(node.Keys) - 1
			for slot := range tree.geometry().slots {
				words = append(words, pairIn(node.Ref, slot, node.Keys[0], node.Values[0])...)
			}
		}
		poke(t, tree, words...)
		require.NoError(t, tree.state.Upload(t.Context(), orphansWord, []uint32{uint32(orphans)}))
		tree.known = counted{nodes: 1} // the known number of nodes may be far from the real one
		length, err := tree.Len(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, len(want), length)
		requireExport(t, tree, want)
		again, err := tree.Nodes(t.Context())
		require.NoError(t, err)
		require.Len(t, again, len(nodes))
		require.NoError(t, tree.Check(t.Context()))
		require.NoError(t, tree.repair(t.Context()))
		require.NoError(t, tree.Check(t.Context()))
		requireTree(t, tree, want)
		require.Zero(t, requireStats(t, tree).Orphans)
	}
}

// If the pool has no room for the new nodes in addition to the old ones, it grows.
func TestRepairInAFullPool(t *testing.T) {
	d := openDevice(t)
	n := 5900 // pairs whose nodes nearly fill a memory block
	keys := ramp(n, 1, 2)
	tree := buildTree(t, d, keys, keys, Options{Capacity: 1})
	before, err := tree.Pool.Stats(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1024, before.Slabs)
	require.Less(t, before.Free, 100)
	require.NoError(t, tree.repair(t.Context()))
	requireTree(t, tree, model{}.insert(keys, keys))
	require.NoError(t, tree.Check(t.Context()))
	after, err := tree.Pool.Stats(t.Context())
	require.NoError(t, err)
	require.Equal(t, before.Allocated, after.Allocated)
	require.Equal(t, 2048, after.Slabs)
}

// If one of a repair's kernels can't be made, the repair gives back the slabs that it has taken.
func TestRepairThatFails(t *testing.T) {
	d := openDevice(t)
	keys := ramp(3000, 1, 2)
	tree := buildTree(t, d, keys, keys, Options{})
	orphan(t, tree)
	allocated := func() int {
		stats, err := tree.Pool.Stats(t.Context())
		require.NoError(t, err)
		return stats.Allocated
	}
	before := allocated()
	gone := errors.New("no such kernel today")
	t.Cleanup(func() { recording.FailWith(nil) })
	for last, n := false, 1; !last; n++ {
		asked := 0
		recording.FailWith(func(string) error {
			if asked++; asked >= n {
				return gone
			}
			return nil
		})
		err := tree.repair(t.Context())
		recording.FailWith(nil)
		if last = asked < n; last {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, gone, "from kernel %d on", n)
		}
		require.Equal(t, before, allocated(), "from kernel %d on", n)
	}
	require.NoError(t, tree.Check(t.Context()))
	requireTree(t, tree, model{}.insert(keys, keys))
}
