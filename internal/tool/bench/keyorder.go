package bench

import (
	"math"
	"math/bits"

	"github.com/vkds/vkds/internal/engine/enum"
)

// Order is how the keys of a benchmark follow one another.
type Order uint8

const (
	Random Order = iota
	Ascending
	Descending
	// AlmostSorted is ascending but for one key in 32, which has changed places with one 2^12 places away.
	AlmostSorted
	// Gaussian are keys about the middle of all 32-bit numbers with a standard deviation of 2^28, in random order.
	// There are at most 2^28 of them.
	Gaussian
)

var orderNames = enum.Names[Order]{"random", "ascending", "descending", "almost-sorted", "gaussian"}

const (
	gaussianDeviation = 1 << 28
	maxGaussian       = 1 << 28 // more, and neighbours in the middle would be less than 1 apart
)

func (o Order) String() string { return orderNames.String(o) }

// Orders are all of them, by their names.
var Orders = enum.Of("order", Random, Ascending, Descending, AlmostSorted, Gaussian)

// sequence are n different keys in an order, each a function of its index. Those that aren't random are spread evenly
// over all 32-bit numbers.
type sequence struct {
	space keySpace
	order Order
	n     int
	step  uint32 // from a key to the next greater one; 2 at least
	deal  order  // of Gaussian: which of them comes when
	spare int    // of random ones: the index whose key stands for ~0; 0: none, ~0 is a key like others
}

func newSequence(space keySpace, o Order, n int) sequence {
	step := uint32(min(1<<32/uint64(n), 1<<31))
	return sequence{space: space, order: o, n: n, step: step, deal: newOrder(n, uint64(space.seed)<<13|1)}
}

func (s sequence) key(i int) uint32 {
	switch s.order {
	case Random:
		if key := s.space.key(i); s.spare == 0 || key != ^uint32(0) {
			return key
		}
		return s.space.key(s.spare)
	case Gaussian:
		return s.quantile(2 * s.deal.at(i))
	case Descending:
		i = s.n - 1 - i
	case AlmostSorted:
		i = s.swapped(i)
	}
	return uint32(i) * s.step
}

// swapped exchanges one index in 32 with that which differs in bit 12, or for short sequences in the highest bit.
func (s sequence) swapped(i int) int {
	far := 1 << min(12, bits.Len(uint(s.n-1))-1)
	pair := i &^ far // the same for both
	if j := i ^ far; j < s.n && scramble(uint32(pair))%32 == 0 {
		return j
	}
	return i
}

// absent is a key that the sequence doesn't have, another one for each index.
func (s sequence) absent(i int) uint32 {
	switch s.order {
	case Random:
		return s.space.key(s.n + i)
	case Gaussian:
		return s.quantile(2*s.deal.at(i) + 1)
	}
	return s.key(i) + s.step/2
}

// quantile is number i of 2n keys that ascend and are distributed normally.
func (s sequence) quantile(i int) uint32 {
	share := (float64(i) + 0.5) / float64(2*s.n)
	return uint32(1<<31 + gaussianDeviation*math.Sqrt2*math.Erfinv(2*share-1))
}

// spread are n keys in ascending order, each somewhere in its own n-th part of all 32-bit numbers.
type spread struct {
	seed, step uint32
}

func newSpread(n int, seed uint32) spread {
	return spread{seed, uint32(min(1<<32/uint64(n), 1<<31))}
}

func (s spread) key(i int) uint32 {
	return uint32(i)*s.step + uint32(uint64(scramble(uint32(i)^s.seed))*uint64(s.step)>>32)
}
