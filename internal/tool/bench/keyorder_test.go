package bench

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSequences(t *testing.T) {
	for _, n := range []int{2, 100, 1 << 13, 50000} {
		for _, name := range []string{random, ascending, descending} {
			s := newSequence(keySpace{7}, name, n)
			seen := map[uint32]bool{}
			falls := 0
			for i := range n {
				require.False(t, seen[s.key(i)], "%s, %d", name, i)
				seen[s.key(i)] = true
				if i > 0 && s.key(i) < s.key(i-1) {
					falls++
				}
			}
			for i := range n {
				require.False(t, seen[s.absent(i)], "%s, %d", name, i)
			}
			switch name {
			case ascending:
				require.Zero(t, falls)
			case descending:
				require.Equal(t, n-1, falls)
			default:
				require.Greater(t, falls, n/4-1)
			}
		}
	}
	require.NoError(t, Check("btree", quick("insert", "order=random,ascending,descending")))
	require.ErrorContains(t, Check("btree", quick("insert", "order=up")), "--order up")
}

func TestSpreadAscends(t *testing.T) {
	for _, n := range []int{1, 2, 1000, 1 << 16} {
		s := newSpread(n, 3)
		keys := make([]uint32, n)
		for i := range keys {
			keys[i] = s.key(i)
		}
		require.True(t, slices.IsSorted(keys))
		require.Len(t, slices.Compact(keys), n)
	}
}
