package slabhash

import "math"

// A table may have buckets that share slabs, so that few slots stay empty (shaders/include/slab_shared.glsl). A group
// of 16 buckets then has 21 base slabs. Options.Load decides: if base slabs are to be about full, buckets share them,
// since lists of their own would be long. With far more pairs than slots, the lists are long either way.
const (
	groupBuckets = 16
	groupSlabs   = 21

	leastShared = 0.75 // of Options.Load
	mostShared  = 1.25
)

// shared reports whether buckets share slabs.
func (o Options) shared() bool { return o.Load >= leastShared && o.Load <= mostShared }

// together returns how many buckets share slabs.
func (o Options) together() int {
	if o.shared() {
		return groupBuckets
	}
	return 1
}

// baseSlabs returns the number of base slabs of that many buckets.
func (t *table) baseSlabs(buckets uint32) uint64 {
	if t.o.shared() {
		return uint64(buckets) / groupBuckets * groupSlabs
	}
	return uint64(buckets)
}

// baseWords returns the words of that many buckets: base slabs, and for each list a word for its tail (slab_hash.glsl).
func (t *table) baseWords(buckets uint32) uint64 {
	return t.baseSlabs(buckets)*slabWords + uint64(t.list(buckets))
}

// whole rounds a number of buckets up to whole groups, if buckets share slabs.
func (o Options) whole(buckets uint32) uint32 {
	if !o.shared() {
		return buckets
	}
	// A key's group must not be that of every other key: see minBuckets.
	return (max(buckets, minBuckets*groupBuckets) + groupBuckets - 1) / groupBuckets * groupBuckets
}

// list returns the group of a bucket, or the bucket itself if it shares no slabs: all keys of a list have one mask, and
// one chain of slabs from the pool.
func (t *table) list(bucket uint32) uint32 { return bucket / uint32(t.o.together()) }

// chained estimates the number of slabs behind the base slabs.
func (t *table) chained(pairs float64, buckets uint32) float64 {
	mean := pairs / float64(buckets)
	if !t.o.shared() {
		expected := 0.0
		eachPoisson(mean, func(n, probability float64) {
			expected += probability * max(0, math.Ceil(n/float64(t.slots))-1)
		})
		return expected * float64(buckets)
	}
	// What the bucket's own slab has no room for: its mean and variance. Four of them meet in the next slab, and four
	// of what that one has no room for in the last one of the group. Their sums are taken to be normal.
	var over, square float64
	eachPoisson(mean, func(n, probability float64) {
		beyond := max(0, n-float64(t.slots))
		over += probability * beyond
		square += probability * beyond * beyond
	})
	variance := square - over*over
	for range 2 {
		over, variance = beyondNormal(4*over, 4*variance, float64(t.slots))
	}
	slabs := over / float64(t.slots)
	return (slabs + 0.5*min(1, over)) * float64(buckets) / groupBuckets // half of the last one is empty
}

// eachPoisson calls do with each number of a Poisson distribution and its probability. Far from the mean these are
// negligible.
func eachPoisson(mean float64, do func(n, probability float64)) {
	width := 10*math.Sqrt(mean) + 10
	for n := max(0, math.Floor(mean-width)); n < mean+width; n++ {
		factorial, _ := math.Lgamma(n + 1)
		do(n, math.Exp(n*math.Log(max(mean, 1e-300))-mean-factorial))
	}
}

// beyondNormal returns the mean and the variance of max(0, x-limit) for a normal x.
func beyondNormal(mean, variance, limit float64) (over, of float64) {
	d := max(math.Sqrt(variance), 1e-9)
	z := (mean - limit) / d
	above, density := math.Erfc(-z/math.Sqrt2)/2, math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)
	over = d * (density + z*above)
	square := d * d * ((z*z+1)*above + z*density)
	return over, max(square-over*over, 0)
}
