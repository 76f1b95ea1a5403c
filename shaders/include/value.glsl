// Value: what values are, and so how they are added and compared: unsigned integers, signed ones, or floats.
//
// Signed integers are in two's complement. Of floats the lesser one is the lesser word: negative ones have all bits
// flipped, others the sign bit (structures.ValueCode in Go). A value of 32 bits in a word of 64 is the upper half, above
// 0.
#ifndef VKDS_VALUE_GLSL
#define VKDS_VALUE_GLSL

#include "constants.glsl"
#include "float.glsl"

const uint VALUES_UNSIGNED = 0u;
const uint VALUES_SIGNED = 1u;
const uint VALUES_FLOAT32 = 2u;
const uint VALUES_FLOAT64 = 3u;

layout(constant_id = VKDS_ID_VALUES) const uint VALUES = VALUES_UNSIGNED;

const bool VALUES_FLOAT = VALUES >= VALUES_FLOAT32;
const uint VALUES_SIGN = VALUES == VALUES_SIGNED ? 0x80000000u : 0u;   // flipped, words are ordered as values
const uint VALUES_LOW = VALUES == VALUES_FLOAT64 ? ~0u : 0u;           // what of a float is in the lower word

// The word that stands among words where a value stands among values; and the value of such a word.
uint value_order(uint v) { return v ^ VALUES_SIGN; }
uvec2 value_order(uvec2 v) { return uvec2(v.x, v.y ^ VALUES_SIGN); }

bool value_below(uint a, uint b) { return value_order(a) < value_order(b); }
bool value_below(uvec2 a, uvec2 b) { return number_below(value_order(a), value_order(b)); }

uint value_min(uint a, uint b) { return value_order(min(value_order(a), value_order(b))); }
uvec2 value_min(uvec2 a, uvec2 b) { return value_order(number_min(value_order(a), value_order(b))); }
uint value_max(uint a, uint b) { return value_order(max(value_order(a), value_order(b))); }
uvec2 value_max(uvec2 a, uvec2 b) { return value_order(number_max(value_order(a), value_order(b))); }

// The bits of a float, by its word, and the word by its bits.
uvec2 value_float(uvec2 v) { return v ^ ((v.y >> 31) != 0u ? uvec2(0u, 0x80000000u) : uvec2(VALUES_LOW, ~0u)); }
uvec2 value_of_float(uvec2 f) { return f ^ ((f.y >> 31) == 0u ? uvec2(0u, 0x80000000u) : uvec2(VALUES_LOW, ~0u)); }

// The sum: of integers modulo 2^32 or 2^64, of floats as float_add has it.
uvec2 value_add(uvec2 a, uvec2 b) {
    if (!VALUES_FLOAT) return number_add(a, b);
    uint exponent_bits = VALUES == VALUES_FLOAT64 ? FLOAT_EXPONENT_64 : FLOAT_EXPONENT_32;
    return value_of_float(float_add(value_float(a), value_float(b), exponent_bits));
}
uint value_add(uint a, uint b) {
    if (!VALUES_FLOAT) return a + b;
    return value_add(uvec2(0u, a), uvec2(0u, b)).y;
}

#endif
