// Summand: loads the numbers to be summed. They are as wide as the sums or, if sums have 64 bits, may be words.
#ifndef VKDS_SUMMAND_GLSL
#define VKDS_SUMMAND_GLSL

#include "segment.glsl"

#if VKDS_KEY_BITS == 64

layout(constant_id = 20) const uint NARROW = 0;   // 1: arrays are of words

// The same as segment_load, for an array of words.
void summand_widen(uvec2 array, uint first, uint n, K beyond, out uvec4 v[QUADS]) {
    bool whole = first + segment_keys() <= n && (array.x & 7u) == 0u;
    [[unroll]] for (uint q = 0u; q < QUADS; q++) {
        uint at = first + segment_key(q);
        v[q] = quad_of(beyond);
        if (whole) {
            uvec2 words = plain_load2(address_at(array, at, 2u));
            v[q] = uvec4(words.x, 0u, words.y, 0u);
        } else {
            if (at < n) v[q].xy = K(plain_load_at(array, at), 0u);
            if (at + 1u < n) v[q].zw = K(plain_load_at(array, at + 1u), 0u);
        }
    }
}

void summand_load(uvec2 array, uint first, uint n, K beyond, out uvec4 v[QUADS]) {
    if (NARROW != 0u) summand_widen(array, first, n, beyond, v);
    else segment_load(array, first, n, beyond, v);
}

#else

void summand_load(uvec2 array, uint first, uint n, K beyond, out uvec4 v[QUADS]) {
    segment_load(array, first, n, beyond, v);
}

#endif

#endif
