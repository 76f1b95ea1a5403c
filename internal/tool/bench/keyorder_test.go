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
				require.Less(t, falls, n/8+2)
				if n > 10000 {
					require.Greater(t, falls, n/50)
				}
			case Gaussian:
				near := 0 // to the middle, by a standard deviation
				for i := range n {
					if k := s.key(i); k > 1<<31-gaussianDeviation && k < 1<<31+gaussianDeviation {
						near++
					}
				}
				require.InDelta(t, 0.683*float64(n), near, 2+0.01*float64(n))
				require.Greater(t, falls, n/4-1)
			default:
				require.Greater(t, falls, n/4-1)
			}
		}
	}
	extreme := newSequence(keySpace{7}, Gaussian, maxGaussian)
	require.Less(t, extreme.quantile(maxGaussian-1), extreme.quantile(maxGaussian))
	require.Less(t, extreme.quantile(0), uint32(1<<29))
	require.Greater(t, extreme.quantile(2*maxGaussian-1), uint32(7<<29))
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
