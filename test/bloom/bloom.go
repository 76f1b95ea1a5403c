// Package bloom is shaders/include/bloom_filter.glsl in Go, to compare the device's bits with.
package bloom

import (
	"math/bits"

	"github.com/vkds/vkds/structures"
)

// BlockWords is the number of 32-bit words in a block.
const BlockWords = 8

var multipliers = [BlockWords]uint32{
	0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
}

// rounds is hash_mix and bloom_filter_mix, which differ in their constants.
func rounds(x uint32, first, second uint32, last int) uint32 {
	x = (x ^ x>>16) * first
	x = (x ^ x>>15) * second
	return x ^ x>>last
}

func mix(x uint32) uint32 { return rounds(x, 0x21f0aaad, 0xd35a2d97, 15) }

// Hash is bloom_filter_hash, for keys of either width.
func Hash[W structures.Word](key W) (block, in uint32) {
	low, high := uint32(key), uint32(uint64(key)>>32)
	seed := uint32(0)
	block = mix(low)
	if structures.WidthOf[W]() == structures.Bits64 {
		block, seed = mix(block^high), low
	}
	return block, rounds(seed^block, 0x7feb352d, 0x846ca68b, 16)
}

// Filter has the words of the blocks of a filter.
type Filter []uint32

// New returns an empty filter.
func New(blocks int) Filter { return make(Filter, blocks*BlockWords) }

// of returns the block of a key, and the key's bit in each word of it.
func of[W structures.Word](f Filter, key W) (block []uint32, bit [BlockWords]uint32) {
	at, in := Hash(key)
	high, _ := bits.Mul32(at, uint32(len(f)/BlockWords))
	return f[int(high)*BlockWords:][:BlockWords], Bits(in)
}

// Bits returns the bits of a key in the words of its block.
func Bits(in uint32) (bit [BlockWords]uint32) {
	for i, m := range multipliers {
		bit[i] = 1 << (in * m >> 27)
	}
	return bit
}

// Insert inserts keys, given as words.
func Insert[W structures.Word](f Filter, keys ...W) {
	for _, key := range keys {
		block, bit := of(f, key)
		for i := range block {
			block[i] |= bit[i]
		}
	}
}

// Contains reports whether a key may be there.
func Contains[W structures.Word](f Filter, key W) bool {
	block, bit := of(f, key)
	for i := range block {
		if block[i]&bit[i] == 0 {
			return false
		}
	}
	return true
}

// BitsSet returns the number of bits that are set.
func (f Filter) BitsSet() (n uint64) {
	for _, word := range f {
		n += uint64(bits.OnesCount32(word))
	}
	return n
}
