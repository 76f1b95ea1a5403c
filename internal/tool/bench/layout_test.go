package bench

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
)

func TestExpectedSlabsAreThoseOfRandomKeys(t *testing.T) {
	const buckets = 20_000
	random := rand.New(rand.NewPCG(1, 2))
	narrow, wide := structures.Bits32, structures.Bits64
	for _, slots := range []int{slabhash.SlotsAt(narrow, false), slabhash.SlotsAt(narrow, true),
		slabhash.SlotsAt(wide, false)} {
		for _, load := range []float64{0.05, 0.7, 1.5, 4} {
			counts := make([]int, buckets)
			for range int(load * float64(slots) * buckets) {
				counts[random.IntN(buckets)]++
			}
			slabs := 0
			for _, c := range counts {
				slabs += max(1, (c+slots-1)/slots)
			}
			require.InEpsilon(t, float64(slabs)/buckets, expectedSlabs(load, slots), 0.01, "load %g, %d slots", load,
				slots)
		}
	}
}
