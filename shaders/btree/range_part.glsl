// Range parts: a range of keys cut into 2^shift parts of equal width, so that a few long ranges are work for all of a
// device.
#ifndef VKDS_RANGE_PART_GLSL
#define VKDS_RANGE_PART_GLSL

#include "memory.glsl"

// The least and the greatest key of part number q of ranges that lie in an array, two words each; all parts of the
// first range come first. An empty part, and a part of an empty range, has the keys 1 and 0.
uvec2 range_part(uvec2 ranges, uint q, uint shift) {
    uvec2 range = plain_load2(address_at(ranges, q >> shift, 3u));
    uint part = q & ((1u << shift) - 1u), width = range.y - range.x;
    if (range.x > range.y) return uvec2(1u, 0u);
    if (shift == 0u) return range;
    uint each = (width >> shift) + 1u;   // keys of a part; part * each stays below 2^32
    uint first = part * each;
    if (first > width) return uvec2(1u, 0u);
    return range.x + uvec2(first, min(width, first + (each - 1u)));
}

#endif
