package replica

import (
	"math"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// added returns the word of the sum of a word and an integer, and whether the type has it.
func added(t keytype.Type, word uint64, n int64) (uint64, bool) {
	var sum uint64
	var err error
	switch bits := t.Bits(word); t {
	case keytype.Uint32, keytype.Uint64:
		total := bits + uint64(n)
		if n >= 0 && total < bits || n < 0 && total > bits {
			return 0, false
		}
		sum, err = t.FromUint(total)
	default:
		is := int64(bits)
		if t == keytype.Int32 {
			is = int64(int32(bits))
		}
		total := is + n
		if n >= 0 && total < is || n < 0 && total > is {
			return 0, false
		}
		sum, err = t.FromInt(total)
	}
	return sum, err == nil
}

// addedFloat returns the word of the sum of a word and a float, and whether the type has it.
func addedFloat(t keytype.Type, word uint64, x float64) (uint64, bool) {
	is := math.Float64frombits(t.Bits(word))
	if t == keytype.Float32 {
		is = float64(math.Float32frombits(uint32(t.Bits(word))))
	}
	sum := is + x
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return 0, false
	}
	w, err := t.FromFloat(sum)
	return w, err == nil
}

// zero returns the word of 0.
func zero(t keytype.Type) uint64 {
	w, _ := t.FromInt(0)
	return w
}
