package keytype

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
)

// Sums reports whether words of a type have sums: those of integers and of floats do.
func (t Type) Sums() bool { return t <= Hex64 }

// Sum is a sum of words of one type for which Sums is true. Sums of integers are exact.
type Sum struct {
	low  uint64 // of integers, in two's complement; or the bits of a float
	high uint64 // the upper half; or, of floats, whether some word is infinite: 0 or 1
}

// Add adds a word.
func (s *Sum) Add(t Type, w uint64) {
	if t == Float32 || t == Float64 {
		f := t.number(w)
		if s.low = math.Float64bits(s.float() + f); math.IsInf(f, 0) {
			s.high = 1
		}
		return
	}
	magnitude, negative := t.integer(w)
	carry := uint64(0)
	if negative {
		s.low, carry = bits.Sub64(s.low, magnitude, 0)
		s.high -= carry
	} else {
		s.low, carry = bits.Add64(s.low, magnitude, 0)
		s.high += carry
	}
}

func (s *Sum) float() float64 { return math.Float64frombits(s.low) }

// AddTo adds words of a type to sums: word k to sum at[k].
func (t Type) AddTo(sums []Sum, at []uint32, words []uint64) {
	if t != Uint32 && t != Uint64 {
		for k, n := range at {
			sums[n].Add(t, words[k])
		}
		return
	}
	for k, n := range at { // as Add does, but the processor waits for many sums at once
		s, carry := &sums[n], uint64(0)
		s.low, carry = bits.Add64(s.low, words[k], 0)
		s.high += carry
	}
}

// In returns the sum as a value of the first type that has it, of the words' type and its wider ones. Error:
// *ValueError.
func (s *Sum) In(t Type) (Value, error) { return t.First(t.Wider(), s.word) }

func (s *Sum) word(t Type) (uint64, error) {
	if t == Float32 || t == Float64 {
		if math.IsInf(s.float(), 0) && s.high == 0 {
			return 0, t.fail("the sum", ErrRange)
		}
		return t.FromFloat(s.float())
	}
	high, low, negative := s.high, s.low, int64(s.high) < 0
	if negative {
		borrow := uint64(0)
		low, borrow = bits.Sub64(0, low, 0)
		high = -high - borrow
	}
	w, err := uint64(0), ErrRange
	if high == 0 && t&^1 == Int32 {
		w, err = t.signed(low, negative)
	} else if high == 0 && !negative {
		w, err = t.FromUint(low)
	}
	if err != nil {
		n := new(big.Int).Lsh(new(big.Int).SetUint64(high), 64)
		if n.Or(n, new(big.Int).SetUint64(low)); negative {
			n.Neg(n)
		}
		return 0, t.fail(n.String(), ErrRange)
	}
	return w, nil
}

// Compare is the order of two sums of words of a type.
func (s *Sum) Compare(t Type, other *Sum) int {
	if t == Float32 || t == Float64 {
		return cmp.Compare(s.float(), other.float())
	}
	return cmp.Or(cmp.Compare(int64(s.high), int64(other.high)), cmp.Compare(s.low, other.low))
}

// Mean returns the sum divided by a number of words of a type, the nearest float. Sums of integers are divided exactly.
func (s *Sum) Mean(t Type, n uint64) float64 {
	if t == Float32 || t == Float64 {
		return s.float() / float64(n)
	}
	total := new(big.Int).Lsh(big.NewInt(int64(s.high)), 64)
	total.Add(total, new(big.Int).SetUint64(s.low))
	mean, _ := new(big.Rat).SetFrac(total, new(big.Int).SetUint64(n)).Float64()
	return mean
}
