package structures

import (
	"math"
	"reflect"
	"unsafe"
)

// Number are the types that keys and values may have, named ones too: integers and floats of 32 or 64 bits.
type Number interface {
	~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Word are the numbers that kernels know. They compare keys as words, unsigned.
type Word interface{ uint32 | uint64 }

// Code is how the numbers of a type become words, and words numbers again. Calls with slices encode and decode by
// themselves; those on device buffers take words.
type Code[T Number] struct {
	negative, positive uint64 // what is flipped, by the sign bit
	shift              uint8
}

// KeyCode keeps the order of keys. Unsigned integers are their own words. Of signed ones the sign bit is flipped.
// Floats are in their total order (IEEE 754-2019, section 5.10): -0 is a key below 0, and a NaN is equal to itself
// alone, bit by bit, above all numbers, or below them all if its sign bit is set. A key of 32 bits beside values of 64
// is the lower half of its word, whose upper half is 0.
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

// ValueCode is the code of values of type V beside keys of type K. Integers are their own words, signed ones in two's
// complement; of floats the lesser one is the lesser word, as with keys. A value of 32 bits beside keys of 64 is the
// upper half of its word, whose lower half is 0: sums are modulo 2^32 there, too.
func ValueCode[K, V Number]() (c Code[V]) {
	if Float[V]() {
		c = KeyCode[V]()
	}
	c.shift = uint8(PairWidth[K, V]().Bits() - WidthOf[V]().Bits())
	return c
}

// Word is the word of a number.
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

// Of is the number of a word.
func (c Code[T]) Of(word uint64) (x T) {
	word >>= c.shift
	flipped := c.negative
	if word>>(8*unsafe.Sizeof(x)-1)&1 == 1 { // a positive one's, if signs count
		flipped = c.positive
	}
	if word ^= flipped; unsafe.Sizeof(x) == 8 {
		*(*uint64)(unsafe.Pointer(&x)) = word
	} else {
		*(*uint32)(unsafe.Pointer(&x)) = uint32(word)
	}
	return x
}

// Flips are the bits of a number that its word has flipped, by whether its sign bit is set.
func (c Code[T]) Flips() (negative, positive uint64) { return c.negative, c.positive }

// Shift is how many bits further up they stand in its word.
func (c Code[T]) Shift() uint8 { return c.shift }

// WidthOf is how wide the numbers of a type are.
func WidthOf[T Number]() Width {
	if unsafe.Sizeof(*new(T)) == 8 {
		return Bits64
	}
	return Bits32
}

// PairWidth is the width at which structures store pairs of these types: the wider one of both. Batches in device
// buffers have their keys and values in words of it.
func PairWidth[K, V Number]() Width { return max(WidthOf[K](), WidthOf[V]()) }

// Signed says whether a type is one of signed integers.
func Signed[T Number]() bool {
	k := reflect.TypeFor[T]().Kind()
	return k >= reflect.Int && k <= reflect.Int64
}

// Float says whether a type is one of floats.
func Float[T Number]() bool {
	k := reflect.TypeFor[T]().Kind()
	return k == reflect.Float32 || k == reflect.Float64
}

// Least is the least key of a type.
func Least[K Number]() K { return KeyCode[K]().Of(0) }

// Greatest is the greatest key of a type.
func Greatest[K Number]() K { return KeyCode[K]().Of(math.MaxUint64 >> (64 - WidthOf[K]().Bits())) }
