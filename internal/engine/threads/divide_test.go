package threads

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The elements of each part are together and in their order, also if there are more parts or cores than elements.
func TestDivide(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 2, 63, 1000, 100_003} {
		for _, parts := range []int{1, 3, 256, 1000} {
			of, want := make([]int, n), make([]int, n)
			for i := range of {
				of[i], want[i] = random.IntN(parts), i
			}
			slices.SortStableFunc(want, func(i, j int) int { return cmp.Compare(of[i], of[j]) })
			got := make([]int, n)
			begins := Divide(n, parts, func(i int) int { return of[i] }, func(i, to int) { got[to] = i })
			require.Equal(t, want, got)
			require.Len(t, begins, parts+1)
			require.Zero(t, begins[0])
			for part, end := range begins[1:] {
				require.True(t, end == n || of[got[end]] > part)
				require.True(t, end == 0 || of[got[end-1]] <= part)
			}
		}
	}
}
