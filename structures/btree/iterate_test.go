package btree

import (
	"context"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// pairsOf returns the pairs of an iterator.
func pairsOf(t testing.TB, tree *dictionary[uint32], r u32.Range, down bool) (keys, values []uint32) {
	t.Helper()
	walk := tree.Ascend
	if down {
		walk = tree.Descend
	}
	for pair, err := range walk(t.Context(), r) {
		require.NoError(t, err)
		keys, values = append(keys, pair.Key), append(values, pair.Value)
	}
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
			for _, r := range []u32.Range{u32.AllKeys, {Lo: 1 << 30, Hi: 1<<31 + 1}, {Lo: 2, Hi: 1},
				{Lo: ^uint32(0), Hi: ^uint32(0)}} {
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

// An iterator that the caller leaves early, one whose context ends, and one of a closed tree.
func TestIteratorsEnd(t *testing.T) {
	tree, err := buildDictionary(t.Context(), openDevice(t), ramp(50000, 0, 80000), ramp(50000, 0, 1),
		Options{Fill: 0.1})
	require.NoError(t, err)
	n := uint32(0)
	for pair, err := range tree.All(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, u32.Pair{Key: 80000 * n, Value: n}, pair)
		if n++; n == 10 {
			break
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n = 0
	var failed error
	for _, err := range tree.Descend(ctx, u32.AllKeys) {
		require.NoError(t, failed, "nothing comes behind the error")
		n++
		failed = err
		cancel()
	}
	require.ErrorIs(t, failed, context.Canceled)
	require.Greater(t, n, uint32(1))
	require.Less(t, n, uint32(50000))
	require.NoError(t, tree.Close())
	require.ErrorIs(t, drained(tree.Ascend(t.Context(), u32.AllKeys)), vk.ErrClosed)
}

// drained returns the error that ends a sequence.
func drained(pairs iter.Seq2[u32.Pair, error]) error {
	for _, err := range pairs {
		if err != nil {
			return err
		}
	}
	return nil
}
