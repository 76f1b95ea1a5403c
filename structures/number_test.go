package structures_test

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	. "github.com/vkds/vkds/structures"
)

// Words of ascending keys ascend, each key is decoded to the same bits, and Least and Greatest are the first and the
// last.
func TestKeyCode(t *testing.T) {
	ascends(t, []uint32{0, 1, 1 << 31, math.MaxUint32})
	ascends(t, []uint64{0, 1, 1 << 32, 1 << 63, math.MaxUint64})
	ascends(t, []uint{0, 5, math.MaxUint})
	ascends(t, []int32{math.MinInt32, -2, -1, 0, 1, math.MaxInt32})
	ascends(t, []int64{math.MinInt64, -1 << 32, -1, 0, 1, 1 << 32, math.MaxInt64})
	ascends(t, []int{math.MinInt, -1, 0, math.MaxInt})
	ascends(t, []time.Duration{math.MinInt64, -time.Second, 0, time.Hour, math.MaxInt64})
	nan64 := func(bits uint64) float64 { return math.Float64frombits(bits) }
	ascends(t, []float64{nan64(math.MaxUint64), nan64(0xfff8 << 48), math.Inf(-1), -1, nan64(1<<63 | 1), nan64(1 << 63),
		0,
		nan64(1), 1, math.Inf(1), nan64(0x7ff8 << 48), nan64(math.MaxInt64)})
	var narrow []float32
	for _, bits := range []uint32{math.MaxUint32, 0xffc00000, 0xff800000, 0xbf800000, 1<<31 | 1, 1 << 31, 0, 1,
		0x3f800000,
		0x7f800000, 0x7fc00000, math.MaxInt32} {
		narrow = append(narrow, math.Float32frombits(bits))
	}
	ascends(t, narrow)
}

func ascends[K Number](t *testing.T, keys []K) {
	t.Helper()
	code := KeyCode[K]()
	var words []uint64
	for _, k := range keys {
		words = append(words, code.Word(k))
		requireBits(t, k, code.Of(code.Word(k)))
	}
	require.True(t, slices.IsSortedFunc(words, func(a, b uint64) int { return cmp.Or(cmp.Compare(a, b), -1) }),
		"%T: %x", keys, words)
	require.Less(t, words[len(words)-1]>>(WidthOf[K]().Bits()-1), uint64(2), "no wider than its type")
	requireBits(t, keys[0], Least[K]())
	requireBits(t, keys[len(keys)-1], Greatest[K]())
}

func requireBits[T Number](t *testing.T, want, got T) {
	t.Helper()
	plain := func(x T) any {
		switch x := any(x).(type) {
		case float32:
			return math.Float32bits(x)
		case float64:
			return math.Float64bits(x)
		}
		return x
	}
	require.Equal(t, plain(want), plain(got))
}

// Integers are their own words; the lesser of two floats has the lesser word.
func TestValueCode(t *testing.T) {
	add := func(a, b int32) int32 {
		c := ValueCode[uint32, int32]()
		return c.Of(uint64(uint32(c.Word(a)) + uint32(c.Word(b))))
	}
	require.EqualValues(t, -3, add(-5, 2))
	require.EqualValues(t, math.MinInt32, add(math.MaxInt32, 1))
	ascendingValues := []float32{float32(math.Inf(-1)), -2.5, 0, 2.5}
	c := ValueCode[float32, float32]()
	for i, v := range ascendingValues[1:] {
		require.Less(t, c.Word(ascendingValues[i]), c.Word(v))
		require.Equal(t, v, c.Of(c.Word(v)))
	}
}
