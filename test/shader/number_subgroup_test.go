package shader

import (
	"math"
	"testing"
)

type numberSubgroupPush struct {
	Numbers, Answers uint64
	Count            uint32
}

// Sums, minima and maxima over subgroups of any size are Go's, also where the low words carry or decide.
func TestNumberSubgroup(t *testing.T) {
	testNumberSubgroup[uint32](t, "test/number_subgroup.k32")
	testNumberSubgroup[uint64](t, "test/number_subgroup.k64")
}

func testNumberSubgroup[N number](t *testing.T, module string) {
	r := newRig(t)
	k := kernel[numberSubgroupPush](t, r, module, nil)
	rnd := random(8)
	n, size := 40*k.Workgroup(), r.d.SubgroupSize()
	numbers, want := make([]N, n), make([]N, 3*n)
	for i := range numbers {
		switch i / k.Workgroup() % 4 {
		case 0:
			numbers[i] = N(rnd.Uint64())
		case 1:
			numbers[i] = N(math.MaxUint32 - uint64(rnd.Uint32N(3)))
		case 2: // high words of two kinds
			numbers[i] = N(rnd.Uint64N(2)<<32 | uint64(rnd.Uint32()))
		case 3:
			numbers[i] = ^N(0) * N(rnd.Uint64N(2))
		}
	}
	for first := 0; first < n; first += size {
		sum, least, most := N(0), ^N(0), N(0)
		for _, x := range numbers[first : first+size] {
			sum, least, most = sum+x, min(least, x), max(most, x)
		}
		for i := first; i < first+size; i++ {
			copy(want[3*i:], []N{sum, least, most})
		}
	}
	answers := room[N](r, 3*n)
	run(r, k, n, numberSubgroupPush{put(r, numbers).Address(), answers.Address(), uint32(n)})
	requireWords(t, want, get(r, answers), "%s", module)
}
