package sequential

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
)

// Matters agrees with a map for few keys, whether or not their hashes collide. More keys are never checked.
func TestMatters(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	twice := 0
	for range 2000 {
		keys := make([]uint32, rng.IntN(2<<10))
		span := uint32(1) << rng.IntN(32)
		step := uint32(1) << rng.IntN(20)
		seen, want := map[uint32]bool{}, false
		for i := range keys {
			keys[i] = rng.Uint32N(span) * step
			want = want || seen[keys[i]]
			seen[keys[i]] = true
		}
		require.Equal(t, want, matters(structures.Insert, keys), "%d keys below %d, a multiple of %d each", len(keys),
			span, step)
		require.False(t, matters(structures.Delete, keys))
		if want {
			twice++
		}
	}
	require.Greater(t, twice, 100)
	require.Less(t, twice, 1900)

	full := make([]uint32, few+1)
	for i := range full {
		full[i] = uint32(i)
	}
	require.False(t, matters(structures.InsertUnique, full[:few]))
	require.True(t, matters(structures.InsertUnique, full))
	require.True(t, matters(structures.InsertUnique, []uint32{7, 7}))
	require.True(t, matters(structures.Insert, []uint32{0, 1, 0}))
	require.False(t, matters(structures.Insert, []uint32{0}))
	require.False(t, matters(structures.Insert, []uint32{}))
	require.True(t, matters(structures.Insert, []uint64{1 << 40, 1 << 41, 1 << 40}))
	require.False(t, matters(structures.Insert, []uint64{1 << 40, 1 << 41, 1}))
	require.True(t, matters(structures.Insert, []int32{-1, 1, -1}))
	require.False(t, matters(structures.Insert, []float64{0, math.Copysign(0, -1)}))
}

func matters[K structures.Number](kind structures.Kind, keys []K) bool {
	return Matters(kind, len(keys), pipeline.Keys(keys, structures.Bits64))
}

func BenchmarkRepeats(b *testing.B) {
	keys := make([]uint32, few)
	for i := range keys {
		keys[i] = rand.Uint32()
	}
	for b.Loop() {
		repeats(keys)
	}
}
