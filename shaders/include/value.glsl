// Value: addition and comparison of values, which are unsigned integers, signed integers or floats.
//
// Define VKDS_VALUES as 0 (the default) for unsigned integers, 1 for signed integers, or 2 for floats. Kernels for
// unsigned values call no function of this header: their code is the same as without it. A specialization constant
// instead of the macro made them up to 46% slower on an NVIDIA H100 (docs/notes/measurements.md).
//
// Signed integers are in two's complement. Floats are encoded so that words have the order of the floats: negative ones
// have all bits flipped, others the sign bit (structures.ValueCode in Go). A value of 32 bits in a word of 64 is the
// upper half; the lower half is 0.
#ifndef VKDS_VALUE_GLSL
#define VKDS_VALUE_GLSL

#include "constants.glsl"
#include "number.glsl"

#define VKDS_UNSIGNED 0
#define VKDS_SIGNED 1
#define VKDS_FLOAT 2

#ifndef VKDS_VALUES
#define VKDS_VALUES VKDS_UNSIGNED
#endif

// One of two expressions: the first for unsigned values, the second for others.
#if VKDS_VALUES == VKDS_UNSIGNED
#define VKDS_BY_VALUES(UNSIGNED, OTHERS) UNSIGNED
#else
#define VKDS_BY_VALUES(UNSIGNED, OTHERS) OTHERS
#endif

// Maps a value to a word so that unsigned words have the order of the values, and back: it is its own inverse.
#if VKDS_VALUES == VKDS_SIGNED
const uint VALUE_SIGN = 0x80000000u;
#else
const uint VALUE_SIGN = 0u;
#endif
uint value_order(uint v) { return v ^ VALUE_SIGN; }
uvec2 value_order(uvec2 v) { return uvec2(v.x, v.y ^ VALUE_SIGN); }

bool value_below(uint a, uint b) { return value_order(a) < value_order(b); }
bool value_below(uvec2 a, uvec2 b) { return number_below(value_order(a), value_order(b)); }

uint value_min(uint a, uint b) { return value_order(min(value_order(a), value_order(b))); }
uvec2 value_min(uvec2 a, uvec2 b) { return value_order(number_min(value_order(a), value_order(b))); }
uint value_max(uint a, uint b) { return value_order(max(value_order(a), value_order(b))); }
uvec2 value_max(uvec2 a, uvec2 b) { return value_order(number_max(value_order(a), value_order(b))); }

// The sum: integers are added modulo 2^32 or 2^64, and floats by float_add.
#if VKDS_VALUES == VKDS_FLOAT
#include "float.glsl"

// The width of floats that are in words of 64 bits: 32 or 64.
layout(constant_id = VKDS_ID_FLOAT_BITS) const uint FLOAT_BITS = 64u;

const uint VALUE_LOW = FLOAT_BITS == 64u ? ~0u : 0u;   // the mask of a float's bits in the lower word

// value_float: the bits of a float, from its encoding. value_of_float: the encoding, from the bits.
uvec2 value_float(uvec2 v, uint low) { return v ^ ((v.y >> 31) != 0u ? uvec2(0u, 0x80000000u) : uvec2(low, ~0u)); }
uvec2 value_of_float(uvec2 f, uint low) { return f ^ ((f.y >> 31) == 0u ? uvec2(0u, 0x80000000u) : uvec2(low, ~0u)); }

uvec2 value_add(uvec2 a, uvec2 b) {
    uint exponent_bits = FLOAT_BITS == 64u ? FLOAT_EXPONENT_64 : FLOAT_EXPONENT_32;
    return value_of_float(float_add(value_float(a, VALUE_LOW), value_float(b, VALUE_LOW), exponent_bits), VALUE_LOW);
}
uint value_add(uint a, uint b) {
    uvec2 x = value_float(uvec2(0u, a), 0u), y = value_float(uvec2(0u, b), 0u);
    return value_of_float(float_add(x, y, FLOAT_EXPONENT_32), 0u).y;
}
#else
uint value_add(uint a, uint b) { return a + b; }
uvec2 value_add(uvec2 a, uvec2 b) { return number_add(a, b); }
#endif

#endif
