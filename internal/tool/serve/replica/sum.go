package replica

import (
	"math"
	"strconv"

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

// addText adds to a text that is a number, as Redis does. An absent key has 0.
func (a *Answer) addText(op *Op, x *slot) {
	a.Text = ""
	if op.Kind == Add {
		is, err := int64(0), error(nil)
		if x.there {
			is, err = strconv.ParseInt(x.text, 10, 64)
		}
		by := int64(op.Value)
		sum := is + by
		switch {
		case err != nil || x.there && strconv.FormatInt(is, 10) != x.text: // neither +5 nor 05 is an integer
			a.NotNumber = true
			return
		case by >= 0 && sum < is || by < 0 && sum > is:
			a.Overflow = true
			return
		}
		a.Text = strconv.FormatInt(sum, 10)
	} else {
		is, err := 0.0, error(nil)
		if x.there {
			is, err = strconv.ParseFloat(x.text, 64)
		}
		sum := is + math.Float64frombits(op.Value)
		switch {
		case err != nil || math.IsNaN(is):
			a.NotNumber = true
			return
		case math.IsNaN(sum) || math.IsInf(sum, 0):
			a.Overflow = true
			return
		}
		a.Text = strconv.FormatFloat(sum, 'f', -1, 64)
	}
	x.text, x.there = a.Text, true
}

// zero returns the word of 0.
func zero(t keytype.Type) uint64 {
	w, _ := t.FromInt(0)
	return w
}
