package main

import (
	"cmp"
	"slices"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// mostGuessed is the most pairs for which a dictionary has room at first, unless its file says how many it has.
const mostGuessed = 4 * batchLength

// capacity returns for how many pairs a dictionary should have room, given the first batch of its keys: as many as
// there seem to be different keys. If there are more, it grows.
func (l *loader) capacity(keys []uint64) int {
	switch {
	case l.key == keytype.Text: // rows of one text may have different numbers
		return cmp.Or(l.expected, len(keys))
	case l.expected != 0:
		return estimate(keys, l.expected)
	case len(keys) < batchLength: // all there are
		return estimate(keys, len(keys))
	}
	return estimate(keys, mostGuessed)
}

// estimate returns how many different keys a file seems to have, but at most most. It counts the keys that are once and
// twice in a sample (A. Chao, Nonparametric Estimation of the Number of Classes in a Population, 1984).
func estimate(keys []uint64, most int) int {
	const size = 1 << 14
	step := max(1, len(keys)/size)
	sample := make([]uint64, 0, len(keys)/step+1)
	for i := 0; i < len(keys); i += step {
		sample = append(sample, keys[i])
	}
	slices.Sort(sample)
	different, once, twice := 0, 0, 0
	for len(sample) > 0 {
		n := 1
		for n < len(sample) && sample[n] == sample[0] {
			n++
		}
		sample = sample[n:]
		different++
		switch n {
		case 1:
			once++
		case 2:
			twice++
		}
	}
	return max(1, min(different+once*(once-1)/(2*(twice+1)), most))
}
