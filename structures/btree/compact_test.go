package btree

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/vk"
)

// Leaves with pairs in any order, holes and erased slots become sorted and dense.
func TestCompact(t *testing.T) {
	d := openDevice(t)
	eachTile(t, d, func(t *testing.T, tile int) {
		rng := random(2)
		keys, values := uniqueKeys(rng, 20000), randomWords(rng, 20000)
		tree := buildTree(t, d, keys, values, Options{Fill: 0.5, Tile: tile})
		want := model{}.insert(keys, values)
		ravage(t, tree, want)
		requireTree(t, tree, want)
		requireExport(t, tree, want)
		for _, fill := range []float64{1, 0.3, 0} {
			require.NoError(t, tree.Compact(t.Context(), fill))
			requireTree(t, tree, want)
			s := requireStats(t, tree)
			require.Zero(t, s.Erased)
			if fill == 1 {
				require.InDelta(t, 1, s.Fill, 0.01)
			}
		}
	})
}

func TestCompactOfFewPairs(t *testing.T) {
	d := openDevice(t)
	tree := newTree(t, d, Options{})
	for n := range 3 {
		keys := ramp(n, ^uint32(0)-uint32(n)+1, 1)
		rebuild(t, tree, keys, keys)
		require.NoError(t, tree.Compact(t.Context(), 0))
		requireTree(t, tree, model{}.insert(keys, keys))
		requireExport(t, tree, model{}.insert(keys, keys))
	}
}

// requireExport compares what the tree exports with a model.
func requireExport[W structures.Word](t testing.TB, tree *dictionary[W], want modelOf[W]) {
	t.Helper()
	keys, values := want.sorted()
	gotKeys, gotValues, err := numbers.All(t.Context(), tree)
	require.NoError(t, err)
	same(t, keys, gotKeys, "keys exported")
	same(t, values, gotValues, "values exported")
}

func TestCompactRefuses(t *testing.T) {
	d := openDevice(t)
	keys := ramp(40000, 0, 3)
	tree := buildTree(t, d, keys, keys, Options{Fill: 1, MaxBytes: 1 << 20})
	var option *vk.OptionError
	require.ErrorAs(t, tree.Compact(t.Context(), -1), &option)
	require.ErrorAs(t, tree.Compact(t.Context(), 1.1), &option)
	var full *vk.LimitError
	require.ErrorAs(t, tree.Compact(t.Context(), 0.1), &full)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, tree.Compact(ctx, 1), context.Canceled)
	requireTree(t, tree, model{}.insert(keys, keys))
}

// If a tree has more pairs than the survey has found, because a kernel of the caller inserts meanwhile, the export
// writes only as many as there is room for.
func TestExportStaysInItsRoom(t *testing.T) {
	d := openDevice(t)
	const pairs, room = 3000, 2000
	keys, values := ramp(pairs, 1, 7), ramp(pairs, 1<<20, 1)
	tree := buildTree(t, d, keys, values, Options{})
	v, err := tree.survey(t.Context())
	require.NoError(t, err)
	defer v.listed.free()
	v.levels[0].Slots = room
	e, err := tree.exportAll(v)
	require.NoError(t, err)
	defer e.memory.Free()
	gotKeys, gotValues := make([]uint32, room), make([]uint32, room)
	require.NoError(t, e.memory.Download(t.Context(), e.keysAt, gotKeys))
	require.NoError(t, e.memory.Download(t.Context(), e.valuesAt, gotValues))
	same(t, keys[:room], gotKeys, "keys")
	same(t, values[:room], gotValues, "values")
}
