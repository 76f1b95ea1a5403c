package btree

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// pairsOf is what an iterator gives.
func pairsOf(t testing.TB, tree *Tree, r structures.Range, down bool) (keys, values []uint32) {
	t.Helper()
	pairs, failure := tree.reader.Walk(t.Context(), r, down)
	for k, v := range pairs {
		keys, values = append(keys, k), append(values, v)
	}
	require.NoError(t, failure())
	return keys, values
}

func TestIterators(t *testing.T) {
	tree := newTree(t, openDevice(t), Options{Fill: 0.2})
	rng := random(13)
	for _, n := range []int{0, 1, 30000} {
		keys := uniqueKeys(rng, n)
		values := randomWords(rng, n)
		want := model{}.insert(keys, values)
		rebuild(t, tree, keys, values)
		for range 2 {
			keys, values := want.sorted()
			for _, r := range []structures.Range{structures.AllKeys, {Lo: 1 << 30, Hi: 1<<31 + 1}, {Lo: 2, Hi: 1}, {Lo: ^uint32(0), Hi: ^uint32(0)}} {
				first, end := within(keys, r)
				up, upValues := pairsOf(t, tree, r, false)
				same(t, keys[first:end], up, "keys upward")
				same(t, values[first:end], upValues, "values upward")
				down, downValues := pairsOf(t, tree, r, true)
				slices.Reverse(down)
				slices.Reverse(downValues)
				same(t, keys[first:end], down, "keys downward")
				same(t, values[first:end], downValues, "values downward")
			}
			ravage(t, tree, want)
		}
	}
}

// An iterator that is left early, one whose context ends, and one of a closed tree.
func TestIteratorsEnd(t *testing.T) {
	tree, err := Build(t.Context(), openDevice(t), ramp(50000, 0, 80000), ramp(50000, 0, 1), Options{Fill: 0.1})
	require.NoError(t, err)
	pairs, failure := tree.All(t.Context())
	n := uint32(0)
	for k, v := range pairs {
		require.Equal(t, []uint32{80000 * n, n}, []uint32{k, v})
		if n++; n == 10 {
			break
		}
	}
	require.NoError(t, failure())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pairs, failure = tree.Descend(ctx, structures.AllKeys)
	n = 0
	for range pairs {
		n++
		cancel()
	}
	require.ErrorIs(t, failure(), context.Canceled)
	require.Positive(t, n)
	require.Less(t, n, uint32(50000))
	require.NoError(t, tree.Close())
	pairs, failure = tree.Ascend(t.Context(), structures.AllKeys)
	for range pairs {
		t.Fatal("a pair of a closed tree")
	}
	require.ErrorIs(t, failure(), vk.ErrClosed)
}
