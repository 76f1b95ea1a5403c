// Package numbers is for tests of keys and values of either width: which they take, and how these stand in device
// buffers.
package numbers

import "github.com/vkds/vkds/structures"

// Key is the key of a width that stands for a number, in the numbers' order. Of 64 bits, the number's last four bits
// fill the low word and the others the high one: neighbours differ in the low word alone, numbers 16 apart in the high
// one alone, and either word is often all zeros or ones, as both are of the least number's key and of the greatest's.
func Key[W structures.Word](n uint32) W {
	if structures.WidthOf[W]() == structures.Bits32 {
		return W(n)
	}
	high, low := uint64(n>>4), uint64(n&15)
	return W((high<<4|high>>24)<<32 | low*0x11111111)
}

// Value is a value of a width that is made of a number, another one of each: of 64 bits, either word is often all zeros
// or ones.
func Value[W structures.Word](n uint32) W {
	if structures.WidthOf[W]() == structures.Bits32 {
		return W(n)
	}
	high := uint64(n * 0x9e3779b1)
	switch n % 8 {
	case 0:
		return W(high << 32)
	case 1:
		return W(high<<32 | 0xffffffff)
	case 2:
		return W(n)
	case 3:
		return W(0xffffffff<<32 | uint64(n))
	}
	return W(high<<32 | uint64(n))
}

// Each makes a number of each number: Each(numbers, Key[W]).
func Each[A, B any](all []A, of func(A) B) []B {
	out := make([]B, len(all))
	for i, a := range all {
		out[i] = of(a)
	}
	return out
}

// WordsOf is how many words of a device buffer so many keys or values take.
func WordsOf[W structures.Word](n int) int { return n * structures.WidthOf[W]().Bytes() / 4 }

// Words are keys or values as they stand in device buffers: one of 64 bits is two words, the low one first.
func Words[W structures.Word](numbers []W) []uint32 {
	words := make([]uint32, 0, WordsOf[W](len(numbers)))
	for _, n := range numbers {
		if words = append(words, uint32(n)); structures.WidthOf[W]() == structures.Bits64 {
			words = append(words, uint32(uint64(n)>>32))
		}
	}
	return words
}

// From are the keys or values that stand in words of device buffers.
func From[W structures.Word](words []uint32) []W {
	each := WordsOf[W](1)
	numbers := make([]W, len(words)/each)
	for i := range numbers {
		if numbers[i] = W(words[each*i]); each == 2 {
			numbers[i] |= W(uint64(words[2*i+1]) << 32)
		}
	}
	return numbers
}
