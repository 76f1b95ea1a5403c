package bench

import (
	"math"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
)

// expectedSlabs returns how many slabs a bucket has on the average, of so many slots each, at a load (elements /
// slots of one slab a bucket): keys fall into buckets at random, so a bucket's number is Poisson-distributed, and
// every bucket has one slab at least.
func expectedSlabs(load float64, slots int) float64 {
	mean := load * float64(slots)
	reach := 10*math.Sqrt(mean) + 30
	sum := 0.0
	for k := math.Floor(max(0, mean-reach)); k <= mean+reach; k++ {
		gamma, _ := math.Lgamma(k + 1)
		p := math.Exp(k*math.Log(mean) - mean - gamma)
		sum += p * max(1, math.Ceil(k/float64(slots)))
	}
	return sum
}

// Utilization returns the memory utilisation (bytes of elements / bytes of slabs, section III-C of the paper) of a
// slab hash of 32-bit pairs at a load, and LoadFor the load that has a utilisation, which must be above 0 and below
// MaxUtilization.
func Utilization(load float64) float64 {
	return MaxUtilization * load / expectedSlabs(load, slabhash.SlotsAt(structures.Bits32, false))
}

// LoadFor: see Utilization.
func LoadFor(utilization float64) float64 {
	low, high := 1e-6, 1e4
	for range 100 {
		mid := math.Sqrt(low * high)
		if Utilization(mid) < utilization {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

const (
	slabBytes = 128

	// MaxUtilization is that of slabs all full: 15 pairs of 8 bytes in 128.
	MaxUtilization = 0.9375
)
