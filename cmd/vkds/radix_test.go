package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSorter(t *testing.T) {
	var s sorter
	for _, n := range []int{0, 1, 2, 1000, aloneBelow - 1, aloneBelow, 3*aloneBelow + 17} {
		for _, most := range []uint64{1, 3, 1 << 20, math.MaxUint64} {
			keys, values := make([]uint64, n), make([]uint64, n)
			for i := range keys {
				keys[i], values[i] = rand.Uint64N(most), uint64(i)
				if rand.IntN(4) == 0 {
					keys[i] = math.MaxUint64 // a key that is most of a part
				}
			}
			want := slices.Clone(values)
			slices.SortStableFunc(want, func(a, b uint64) int { return cmp.Compare(keys[a], keys[b]) })
			sorted := slices.Clone(keys)
			slices.Sort(sorted)
			s.sort(keys, values)
			require.Equal(t, sorted, keys)
			require.Equal(t, want, values, "equal keys stay in their order")
		}
	}
}
