package bench

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeysOfDifferentIndicesDiffer(t *testing.T) {
	// A bijection of 32 bits is undone step by step; that it can be proves it one.
	undoShift := func(x uint32, by int) uint32 {
		y := x
		for i := 0; i < 32; i += by {
			y = x ^ y>>by
		}
		return y
	}
	inverse := func(odd uint32) uint32 {
		x := odd // right in the lowest 3 bits; each step doubles that
		for range 5 {
			x *= 2 - odd*x
		}
		return x
	}
	undo := func(x uint32) uint32 {
		x = undoShift(x, 14) * inverse(0x31848bab)
		x = undoShift(x, 15) * inverse(0xac4c1b51)
		x = undoShift(x, 11) * inverse(0xed5ad4bb)
		return undoShift(x, 17)
	}
	for i := range uint32(1 << 18) {
		x := i * 0x3fff1 // over the whole range
		require.Equal(t, x, undo(scramble(x)))
	}
	s := keySpace{0xffffff00}
	seen := map[uint32]bool{}
	for i := range 1 << 16 {
		seen[s.key(i)] = true
	}
	require.Len(t, seen, 1<<16)
}

func TestOrderIsAPermutation(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 64, 100, 1000, 1 << 12, 1<<12 + 1, 99_999} {
		o := newOrder(n, 12345)
		seen := make([]bool, n)
		fixed := 0
		for i := range n {
			at := o.at(i)
			require.GreaterOrEqual(t, at, 0)
			require.Less(t, at, n)
			require.False(t, seen[at], "n = %d: %d comes twice", n, at)
			seen[at] = true
			if at == i {
				fixed++
			}
		}
		if n >= 64 {
			require.Less(t, fixed, n/8, "n = %d: nothing was put in disorder", n)
		}
	}
}

func TestOrdersOfDifferentSeedsDiffer(t *testing.T) {
	a, b := newOrder(1<<12, 1), newOrder(1<<12, 2<<17|1)
	same := 0
	for i := range 1 << 12 {
		if a.at(i) == b.at(i) {
			same++
		}
	}
	require.Less(t, same, 1<<8)
}

func TestFillReachesEachElement(t *testing.T) {
	for _, n := range []int{0, 1, 1 << 15, 1<<17 + 3} {
		s := make([]uint32, n)
		fill(s, func(i int) uint32 { return uint32(i) + 1 })
		for i, v := range s {
			require.Equal(t, uint32(i)+1, v)
		}
	}
}

func BenchmarkKeyInOrder(b *testing.B) {
	s, o := keySpace{1}, newOrder(1<<26, 7)
	var sum uint32
	for i := range b.N {
		sum += s.value(s.key(o.at(i & (1<<26 - 1))))
	}
	_ = sum
}

func BenchmarkMix(b *testing.B) {
	x := newMixer(keySpace{1}, 1<<26, 1<<26, gammas[2].mix)
	var sum uint32
	for i := range b.N {
		sum += x.at(i & (1<<26 - 1)).key
	}
	_ = sum
}

func TestAscending(t *testing.T) {
	for _, n := range []int{0, 1, 5, 100_000} {
		s := make([]uint32, n)
		fill(s, func(i int) uint32 { return scramble(uint32(i)) >> (i % 20) })
		want := slices.Sorted(slices.Values(s))
		require.True(t, slices.Equal(want, inAscent(s)), n)
	}
}
