package main

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// The first guess is near the number of different keys, and never above the number of pairs.
func TestCapacity(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	random := func(n int, below uint64) []uint64 {
		keys := make([]uint64, n)
		for i := range keys {
			keys[i] = rng.Uint64N(below)
		}
		return keys
	}
	near := func(want int, got int) {
		t.Helper()
		require.InEpsilon(t, want, got, 0.3)
	}
	l := loader{dictionary: dictionary{key: keytype.Uint64}}
	near(1000, l.capacity(random(batchLength, 1000)))
	near(100_000, l.capacity(random(batchLength, 100_000)))
	near(2_000_000, l.capacity(random(batchLength, 2_000_000)))
	require.Equal(t, mostGuessed, l.capacity(random(batchLength, 1<<60)))
	require.Equal(t, 5, l.capacity([]uint64{1, 2, 3, 4, 5}))
	require.Equal(t, 1, l.capacity([]uint64{7, 7, 7, 7, 7}))
	require.Equal(t, 1, l.capacity(nil))
	near(700, l.capacity(random(10_000, 700)))

	l.expected = 3 * batchLength // a file that says how many pairs it has
	require.Equal(t, l.expected, l.capacity(random(batchLength, 1<<60)))
	near(1000, l.capacity(random(batchLength, 1000)))

	runs := random(batchLength, 1<<60) // sorted keys, ten of each
	for i := range runs {
		runs[i] = uint64(i / 10)
	}
	require.LessOrEqual(t, l.capacity(runs), l.expected)
	require.GreaterOrEqual(t, l.capacity(runs), batchLength/100)

	texts := loader{dictionary: dictionary{key: keytype.Text}}
	require.Equal(t, batchLength, texts.capacity(random(batchLength, 1<<60)))
}
