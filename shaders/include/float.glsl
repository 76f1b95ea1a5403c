// Float: adds floats by integer arithmetic, so that it works on devices without doubles, too. The sums are those of
// IEEE 754: rounded to nearest, ties to even, with subnormal numbers.
#ifndef VKDS_FLOAT_GLSL
#define VKDS_FLOAT_GLSL

#include "number.glsl"

const uint FLOAT_EXPONENT_32 = 8u;    // bits of a float's exponent
const uint FLOAT_EXPONENT_64 = 11u;   // of a double's

// a * 2^shift, for a shift below 64.
uvec2 float_left(uvec2 a, uint shift) {
    return shift < 32u ? uvec2(a.x << shift, (a.y << shift) | (shift == 0u ? 0u : a.x >> (32u - shift)))
                       : uvec2(0u, a.x << (shift - 32u));
}

// a / 2^shift, for a shift below 64. If any bit that is shifted out was 1, the last bit of the result is set.
uvec2 float_right(uvec2 a, uint shift) {
    uvec2 by = shift < 32u ? uvec2((a.x >> shift) | (shift == 0u ? 0u : a.y << (32u - shift)), a.y >> shift)
                           : uvec2(a.y >> (shift - 32u), 0u);
    bool lost = float_left(by, shift) != a;
    return uvec2(by.x | (lost ? 1u : 0u), by.y);
}

// The sum of two floats with exponents of `exponent_bits` bits. Floats of 32 bits are in the upper word, and the lower
// word is 0. A sum that is not a number is always the same NaN: quiet, positive, without payload.
uvec2 float_add(uvec2 a, uvec2 b, uint exponent_bits) {
    uint at = 31u - exponent_bits, most = (1u << exponent_bits) - 1u;   // of the exponent, in the upper word
    uvec2 size = uvec2(a.x, a.y & 0x7fffffffu), less = uvec2(b.x, b.y & 0x7fffffffu);
    uint sign = a.y & 0x80000000u;
    bool opposite = ((a.y ^ b.y) >> 31) != 0u;
    if (number_below(size, less)) {
        uvec2 smaller = size;
        size = less;
        less = smaller;
        sign = b.y & 0x80000000u;
    }
    uvec2 infinity = uvec2(0u, most << at);
    if (number_below(infinity, size) || (opposite && less == infinity)) return infinity | uvec2(0u, 1u << (at - 1u));
    if (size == infinity) return uvec2(0u, infinity.y | sign);

    // Significands with the bit before the point as bit 61. A subnormal number has the least exponent without that bit.
    uint exponent = max(size.y >> at, 1u), lesser = max(less.y >> at, 1u);
    uint hidden = 1u << at, fraction = hidden - 1u, up = exponent_bits - 2u;
    uvec2 sum = float_left(uvec2(size.x, (size.y & fraction) | (size.y >> at != 0u ? hidden : 0u)), up);
    uvec2 other = float_left(uvec2(less.x, (less.y & fraction) | (less.y >> at != 0u ? hidden : 0u)), up);
    other = float_right(other, min(exponent - lesser, 63u));
    sum = opposite ? number_subtract(sum, other) : number_add(sum, other);
    if (sum == uvec2(0u)) return uvec2(0u, opposite ? 0u : sign);
    uint top = sum.y != 0u ? 32u + uint(findMSB(sum.y)) : uint(findMSB(sum.x));
    if (top == 62u) {
        sum = float_right(sum, 1u);
        exponent++;
    } else {
        uint shift = min(61u - top, exponent - 1u);
        sum = float_left(sum, shift);
        exponent -= shift;
    }

    // Half of the last place that stays, and less if the place itself is even; then the lower places go. A bit 61, or a
    // carry to bit 62, counts in the exponent.
    uint last = exponent_bits == FLOAT_EXPONENT_32 ? 38u : 9u;
    sum = number_add(sum, number_subtract(number_shifted(1u, last - 1u), uvec2(1u - number_bits(sum, last, 1u), 0u)));
    sum = last < 32u ? uvec2(sum.x & (~0u << last), sum.y) : uvec2(0u, sum.y & (~0u << (last - 32u)));
    sum = number_add(float_right(sum, up), uvec2(0u, (exponent - 1u) << at));
    if (sum.y >> at >= most) sum = infinity;
    return uvec2(sum.x, sum.y | sign);
}

#endif
