package filter

import "math"

const (
	leastRate = 1e-6 // the hash has 32 bits for the bits in a block
	mostRate  = 0.5

	wordBits = 32
)

// rate returns the share of absent keys that a filter with that many different keys a block reports as there. The
// number of keys of a block has a Poisson distribution. With j keys, a bit of a word is not set with the probability
// (1-1/32)^j, and a key needs one bit in each of eight words (Putze and others, section 3).
func rate(load float64) float64 {
	const more = 64 // the terms from here on are less than 10^-20 of the sum
	switch {
	case load <= 0:
		return 0
	case load >= more:
		return manyRate(load)
	}
	sum, share, clear := 0.0, math.Exp(-load), 1.0
	for j := 1.0; j < 4*more; j++ {
		share *= load / j
		clear *= 1 - 1.0/wordBits
		sum += share * math.Pow(1-clear, blockWords)
	}
	return sum
}

// manyRate is rate for many keys. It is the sum over all numbers of keys at once, after (1-x)^8 is multiplied out; the
// terms of few keys would cancel each other.
func manyRate(load float64) float64 {
	sum, binomial, clear := 1.0, 1.0, 1.0
	for i := 1.0; i <= blockWords; i++ {
		binomial *= -(blockWords + 1 - i) / i
		clear *= 1 - 1.0/wordBits
		sum += binomial * math.Exp(-load*(1-clear))
	}
	return sum
}

// expected returns the rate of a filter with that many keys, or 0 if it was never opened.
func (c *core) expected(keys int) float64 {
	if c.count == 0 {
		return 0
	}
	return rate(float64(keys) / float64(c.count))
}

// blocksFor returns how many blocks a filter needs for a number of keys and a rate of false positives, as a float
// because it may be beyond any limit.
func blocksFor(keys int, most float64) float64 {
	low, high := 0.0, 256.0 // keys a block
	for range 64 {
		if middle := (low + high) / 2; rate(middle) <= most {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Ceil(float64(keys) / low)
}

// loadOf returns how many different keys a block have set a share of the bits.
func loadOf(share float64) float64 { return -wordBits * math.Log1p(-share) }
