package relational

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/pass"
)

// requireTopK compares TopK with a stable sort of the keys' words.
func requireTopK[K structures.Number](t *testing.T, r *Relational, keys []K, k int, name string) {
	t.Helper()
	code, rows := structures.KeyCode[K](), make([]int32, len(keys))
	for i := range rows {
		rows[i] = int32(i)
	}
	slices.SortStableFunc(rows, func(a, b int32) int { return cmp.Compare(code.Word(keys[b]), code.Word(keys[a])) })
	rows = rows[:min(k, len(rows))]
	top, got, err := TopK(t.Context(), r, keys, k)
	require.NoError(t, err, name)
	require.Equal(t, rows, got, name)
	require.Len(t, top, len(rows), name)
	for i, row := range rows {
		require.Equal(t, code.Word(keys[row]), code.Word(top[i]), name)
	}
}

func testTopK[K structures.Number](t *testing.T) {
	eachSize(t, func(t *testing.T, r *Relational) {
		for _, n := range []int{0, 1, 300, 301, 2000} {
			for _, different := range []int{1, 40, 1 << 20} {
				for _, k := range []int{0, 1, 10, 299, 700, 5000} {
					requireTopK(t, r, keysBelow[K](uint64(n), n, different), k, fmt.Sprint(n, different, k))
				}
			}
		}
	})
}

func TestTopK(t *testing.T) {
	pass.OneDriver(t, "the kernels are those of primitives")
	t.Run("uint32", testTopK[uint32])
	t.Run("int64", testTopK[int64])
	t.Run("float32", testTopK[float32])
	nan := math.NaN()
	special := []float64{1, nan, math.Inf(1), math.Copysign(nan, -1), math.Copysign(0, -1), 0}
	requireTopK(t, open(t, Options{}), special, len(special), "special floats")
}

// Keys that take more than MaxBytes pass through the device in parts.
func TestTopKInLittleMemory(t *testing.T) {
	pass.OneDriver(t, "the kernels are those of primitives")
	requireTopK(t, open(t, Options{MaxBytes: leastBytes}), keysBelow[uint64](1, 300_000, 100_000), 10, "")
}

func TestTopKRefuses(t *testing.T) {
	r := open(t, Options{})
	var count *structures.CountError
	_, _, err := TopK(t.Context(), r, []uint32{1}, -1)
	require.ErrorAs(t, err, &count)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = TopK(ended, r, []uint32{1}, 1)
	require.ErrorIs(t, err, context.Canceled)
}
