package bench

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSequences(t *testing.T) {
	for _, n := range []int{2, 100, 1 << 13, 50000} {
		for _, name := range Orders.Names() {
			o, err := Orders.Parse(name)
			require.NoError(t, err)
			s := newSequence(keySpace{7}, o, n)
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
			switch o {
			case Ascending:
				require.Zero(t, falls)
			case Descending:
				require.Equal(t, n-1, falls)
			case AlmostSorted:
				require.InDelta(t, swaps+1, falls, swaps)
			default:
				require.Greater(t, falls, n/4-1)
			}
		}
	}
	_, err := Orders.Parse("up")
	require.Error(t, err)
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
