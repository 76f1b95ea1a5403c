package shader

import (
	"cmp"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk"
)

type numberPush struct {
	Keys, Values, Numbers, Words, Copies uint64
	Shift, Mask, Count                   uint32
}

// number is what kernels are compiled for two widths of.
type number interface {
	uint32 | uint64
	vk.Element
}

// Numbers of one word and of two do the same as Go's, at the edges of either word.
func TestNumber(t *testing.T) {
	testNumber[uint32](t, "test/number.k32", 32)
	testNumber[uint64](t, "test/number.k64", 64)
}

func testNumber[N number](t *testing.T, module string, bits uint32) {
	edges := []uint64{0, 1, 1 << 31, math.MaxUint32 - 1, math.MaxUint32, 1 << 32, 1<<32 + 1, 1<<63 - 1, 1 << 63,
		math.MaxUint64 - math.MaxUint32, math.MaxUint64 - math.MaxUint32 - 1, math.MaxUint64 - 1, math.MaxUint64}
	var a, b []N
	for _, x := range edges {
		for _, y := range edges {
			a, b = append(a, N(x)), append(b, N(y))
		}
	}
	rnd := random(5)
	for range 1000 {
		a, b = append(a, N(rnd.Uint64())), append(b, N(rnd.Uint64()>>rnd.Uint32N(64)))
	}
	n := len(a)
	r := newRig(t)
	k := kernel[numberPush](t, r, module, nil)
	numbers, words, copies := room[N](r, 5*n), room[uint32](r, 4*n), room[N](r, 3*n+3)
	keys, values := put(r, a).Address(), put(r, b).Address()
	for shift := uint32(0); shift < bits; shift += 11 {
		mask := uint32(1)<<min(8, 32-shift%32) - 1
		run(r, k, n, numberPush{keys, values, numbers.Address(), words.Address(), copies.Address(), shift, mask,
			uint32(n)})
		gotNumbers, gotWords, gotCopies := get(r, numbers), get(r, words), get(r, copies)
		for i := range n {
			shifted := N(uint64(uint32(b[i])) << shift)
			require.Equal(t, []N{min(a[i], b[i]), max(a[i], b[i]), a[i] + b[i], a[i] - b[i], shifted},
				gotNumbers[5*i:][:5], "%#x and %#x, by %d", a[i], b[i], shift)
			equal, below := uint32(0), uint32(0)
			switch cmp.Compare(a[i], b[i]) {
			case 0:
				equal = 1
			case -1:
				below = 1
			}
			from := min(uint64(a[i])>>shift, math.MaxUint32)
			require.Equal(t, []uint32{equal, below, uint32(uint64(a[i])>>shift) & mask, uint32(from)},
				gotWords[4*i:][:4], "%#x and %#x, bits from %d on", a[i], b[i], shift)
		}
		require.Equal(t, a, gotCopies[:n])
		require.Equal(t, b, gotCopies[n:2*n])
		require.Equal(t, b, gotCopies[2*n:3*n])
		require.Equal(t, []N{0, ^N(0), N(n)}, gotCopies[3*n:])
	}
}
