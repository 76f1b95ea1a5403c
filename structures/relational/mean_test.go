package relational

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
)

// Means and floats of sums of integers are rounded once.
func TestRoundedOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(38, 8))
	totals := []total{{0, 0}, {1<<53 + 1, 0}, {math.MaxUint64, math.MaxUint64}, {0, 1 << 63}, {1<<63 + 1, 0}}
	for range 20_000 {
		a := total{r.Uint64() >> r.IntN(64), 0}
		switch r.IntN(3) {
		case 0:
			a = total{-a.low, math.MaxUint64}
		case 1:
			a.high = uint64(r.IntN(1000))
		}
		totals = append(totals, a)
	}
	for _, a := range totals {
		n := 1 + r.Uint64()>>r.IntN(64)/2
		want, _ := new(big.Rat).SetFrac(a.number(), new(big.Int).SetUint64(n)).Float64()
		require.Equal(t, want, a.mean(n), "%v / %d", a, n)
		single, _ := new(big.Rat).SetInt(a.number()).Float32()
		word, fits := a.word(false, numberType{primitives.Float, structures.Bits32})
		require.True(t, fits)
		require.Equal(t, single, structures.KeyCode[float32]().Of(word), "%v", a)
	}
}

// Of several sums without room the first one is reported, also if several threads find some.
func TestFirstOverflow(t *testing.T) {
	sums := make([]total, 200_000)
	to := numberType{primitives.Unsigned, structures.Bits64}
	words, err := sumsAs(sums, false, to)
	require.NoError(t, err)
	require.Len(t, words, len(sums))
	for _, first := range []int{199_999, 150_001, 70_000, 3} {
		sums[first].high = 1
		_, err := sumsAs(sums, false, to)
		var over *OverflowError
		require.ErrorAs(t, err, &over)
		require.Equal(t, first, over.Group)
	}
}
