package structures

import (
	"math"
	"reflect"
	"unsafe"
)

// Number has the types of keys and values: integers and floats of 32 or 64 bits, and named types of them.
type Number interface {
	~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Word has the types that kernels use. Kernels compare keys as unsigned words.
type Word interface{ uint32 | uint64 }

// Code converts numbers of a type to words and back. Calls with slices convert by themselves; calls on device buffers
// take words and return words.
//
//	       unsigned integer  signed integer    float
//	key    as it is          sign bit flipped  in its total order
//	value  as it is          as it is          in its total order, as a key
//
//	       32 bits beside 64, in a word of 64 bits
//	key    in the lower half; the upper half is 0
//	value  in the upper half; the lower half is 0
//
// A word has the PairWidth of the types, or in a set the width of the keys. In a buffer a word of 64 bits is two of 32,
// of which the low one comes first. A word that is not encoded is another number: a lookup of it finds nothing, or the
// value of another key.
//
// Signed values are in two's complement, because they are added up. A value of 32 bits is in the upper half so that
// sums are modulo 2^32 there, too. The total order of floats is that of IEEE 754-2019, section 5.10: -0 is less than 0,
// and a NaN is equal only to the NaN with the same bits. NaNs are above all numbers, or below them if their sign bit is
// set. To encode a float, flip its sign bit, or all its bits if it is negative.
//
// In Go, KeyCode and ValueCode encode. On a device primitives.EncodeKeys does, for numbers of the full width of a word.
type Code[T Number] struct {
	negative, positive uint64 // the bits that are flipped, by the sign of the number
	shift              uint8
}

// KeyCode returns the code of keys, which keeps their order: the lesser key has the lesser word. The table of Code says
// how.
func KeyCode[K Number]() Code[K] {
	sign := uint64(1) << (WidthOf[K]().Bits() - 1)
	switch {
	case Float[K]():
		return Code[K]{negative: sign | (sign - 1), positive: sign}
	case Signed[K]():
		return Code[K]{negative: sign, positive: sign}
	}
	return Code[K]{}
}

// ValueCode returns the code of values of type V with keys of type K: see the table of Code.
func ValueCode[K, V Number]() (c Code[V]) {
	if Float[V]() {
		c = KeyCode[V]()
	}
	c.shift = uint8(PairWidth[K, V]().Bits() - WidthOf[V]().Bits())
	return c
}

// Word returns the word of a number.
func (c Code[T]) Word(x T) uint64 {
	bits := uint64(0)
	if unsafe.Sizeof(x) == 8 {
		bits = *(*uint64)(unsafe.Pointer(&x))
	} else {
		bits = uint64(*(*uint32)(unsafe.Pointer(&x)))
	}
	if bits>>(8*unsafe.Sizeof(x)-1) == 1 {
		return (bits ^ c.negative) << c.shift
	}
	return (bits ^ c.positive) << c.shift
}

// Of returns the number of a word.
func (c Code[T]) Of(word uint64) (x T) {
	word >>= c.shift
	flipped := c.negative
	if word>>(8*unsafe.Sizeof(x)-1)&1 == 1 { // the word of a number that is not negative
		flipped = c.positive
	}
	if word ^= flipped; unsafe.Sizeof(x) == 8 {
		*(*uint64)(unsafe.Pointer(&x)) = word
	} else {
		*(*uint32)(unsafe.Pointer(&x)) = uint32(word)
	}
	return x
}

// Flips returns the bits that differ between a number and its word: for numbers whose sign bit is set, and for the
// others.
func (c Code[T]) Flips() (negative, positive uint64) { return c.negative, c.positive }

// Shift returns how many bits the number is shifted up in its word.
func (c Code[T]) Shift() uint8 { return c.shift }

// WidthOf returns the width of a type's numbers.
func WidthOf[T Number]() Width {
	if unsafe.Sizeof(*new(T)) == 8 {
		return Bits64
	}
	return Bits32
}

// PairWidth returns the width at which structures store pairs of these types: the greater of both widths. Keys and
// values in device buffers have this width.
func PairWidth[K, V Number]() Width { return max(WidthOf[K](), WidthOf[V]()) }

// Signed reports whether T is a signed integer type.
func Signed[T Number]() bool {
	k := reflect.TypeFor[T]().Kind()
	return k >= reflect.Int && k <= reflect.Int64
}

// Float reports whether T is a float type.
func Float[T Number]() bool {
	k := reflect.TypeFor[T]().Kind()
	return k == reflect.Float32 || k == reflect.Float64
}

// Least returns the least key of a type.
func Least[K Number]() K { return KeyCode[K]().Of(0) }

// Greatest returns the greatest key of a type.
func Greatest[K Number]() K { return KeyCode[K]().Of(math.MaxUint64 >> (64 - WidthOf[K]().Bits())) }
