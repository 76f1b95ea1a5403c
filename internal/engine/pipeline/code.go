package pipeline

import (
	"unsafe"

	"github.com/vkds/vkds/structures"
)

// code converts numbers to words of the device and back: a structures.Code with both widths. The zero value leaves
// 32-bit words as they are.
type code struct {
	number, word       structures.Width
	shift              uint8
	negative, positive uint64 // the bits that are flipped, by the sign of the number
}

// flips reports whether a number and its word differ in bits, so that the word 0 is not the number 0.
func (c code) flips() bool { return c.negative != 0 }

// plain reports whether numbers are their own words.
func (c code) plain() bool { return c.number == c.word && !c.flips() }

// encode converts numbers to words.
func (c code) encode(to, from []byte) {
	switch {
	case c.number == structures.Bits64 && c.word == structures.Bits64:
		encode(words64(to), words64(from), c)
	case c.number == structures.Bits64:
		encode(words32(to), words64(from), c)
	case c.word == structures.Bits64:
		encode(words64(to), words32(from), c)
	default:
		encode(words32(to), words32(from), c)
	}
}

// decode converts words to numbers.
func (c code) decode(to, from []byte) {
	switch {
	case c.number == structures.Bits64 && c.word == structures.Bits64:
		decode(words64(to), words64(from), c)
	case c.number == structures.Bits64:
		decode(words64(to), words32(from), c)
	case c.word == structures.Bits64:
		decode(words32(to), words64(from), c)
	default:
		decode(words32(to), words32(from), c)
	}
}

// clear sets the numbers of operations that found nothing to 0. In a mixed batch of the given kinds, it does so for
// lookups only.
func (c code) clear(numbers, of []byte, kinds []structures.Kind) {
	if c.number == structures.Bits64 {
		clearAbsent(words64(numbers), of, kinds)
	} else {
		clearAbsent(words32(numbers), of, kinds)
	}
}

// count converts words that are numbers of pairs. In a mixed batch of the given kinds, it does so for operations that
// count only.
func (c code) count(to, from []byte, kinds []structures.Kind) {
	if c.word == structures.Bits64 {
		countWords(c, to, words64(from), kinds)
	} else {
		countWords(c, to, words32(from), kinds)
	}
}

func encode[N, W structures.Word](to []W, from []N, c code) {
	to = to[:len(from)]
	top := 8*unsafe.Sizeof(N(0)) - 1
	positive, differ, shift := N(c.positive), N(c.negative^c.positive), c.shift
	for i, x := range from {
		to[i] = W(x^positive^differ&-(x>>top)) << shift
	}
}

func decode[N, W structures.Word](to []N, from []W, c code) {
	to = to[:len(from)]
	top := 8*unsafe.Sizeof(N(0)) - 1
	negative, differ, shift := N(c.negative), N(c.negative^c.positive), c.shift
	for i, w := range from {
		x := N(w >> shift)
		to[i] = x ^ negative ^ differ&-(x>>top) // the sign bit is set in words of positive numbers
	}
}

// Order describes how keys are ordered.
type Order struct {
	Sorted      bool   // no key is less than the one before it
	Ascending   bool   // there are keys, and each is greater than the one before it
	First, Last uint64 // if Ascending: the words of the first and the last key
}

// order returns how keys are ordered by their words.
func order[N structures.Word](keys []N, c code) Order {
	if len(keys) == 0 {
		return Order{Sorted: true}
	}
	top := 8*unsafe.Sizeof(N(0)) - 1
	positive, differ := N(c.positive), N(c.negative^c.positive)
	first := keys[0] ^ positive ^ differ&-(keys[0]>>top)
	ascending, before := true, first
	for _, x := range keys[1:] {
		word := x ^ positive ^ differ&-(x>>top)
		if word <= before {
			if word < before {
				return Order{}
			}
			ascending = false
		}
		before = word
	}
	return Order{Sorted: true, Ascending: ascending, First: uint64(first), Last: uint64(before)}
}

// clearAbsent clears numbers by their outcome in of: 1 and structures.Found mean found. The two differ in one bit.
func clearAbsent[N structures.Word](numbers []N, of []byte, kinds []structures.Kind) {
	const found, either = byte(structures.Found), byte(structures.Found) &^ 1
	for i, by := range of[:len(numbers)] {
		if by|either != found && (kinds == nil || looksUp(kinds[i])) {
			numbers[i] = 0
		}
	}
}

// looksUp reports whether an operation of a kind results in the value that it finds, or in 0.
func looksUp(k structures.Kind) bool { return k == structures.Find || k.Ordered() && !k.Ranges() }

func countWords[W structures.Word](c code, to []byte, from []W, kinds []structures.Kind) {
	switch {
	case c.flips() && c.number == structures.Bits64: // only floats have values that flip
		countEach(numbersOf[float64](to), from, kinds)
	case c.flips():
		countEach(numbersOf[float32](to), from, kinds)
	case c.number == structures.Bits64:
		countEach(words64(to), from, kinds)
	default:
		countEach(words32(to), from, kinds)
	}
}

func countEach[V structures.Number, W structures.Word](to []V, from []W, kinds []structures.Kind) {
	for i, n := range from {
		if kinds == nil || counts(kinds[i]) {
			to[i] = V(n)
		}
	}
}

// counts reports whether an operation of a kind results in a number of pairs.
func counts(k structures.Kind) bool {
	return k == structures.DeleteAll || k == structures.CountAll || k.Ranges()
}

func words32(b []byte) []uint32 { return numbersOf[uint32](b) }
func words64(b []byte) []uint64 { return numbersOf[uint64](b) }

func numbersOf[N structures.Number](b []byte) []N {
	return unsafe.Slice((*N)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(N(0))))
}
