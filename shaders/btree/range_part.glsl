// Range parts: divides a range of keys into 2^shift parts of equal width, so that a few long ranges use the whole
// device.
#ifndef VKDS_RANGE_PART_GLSL
#define VKDS_RANGE_PART_GLSL

#include "width.glsl"

// The least and the greatest key of part number q of ranges in an array, two keys each. All parts of the first range
// come first. An empty part, or a part of an empty range, has the keys 1 and 0.
#if VKDS_WIDE
P range_part(uvec2 ranges, uint q, uint shift) {
    P range = plain_load4(address_at(ranges, q >> shift, 4u));
    const P empty = uvec4(1u, 0u, 0u, 0u);
    uint part = q & ((1u << shift) - 1u);
    K low = range.xy, width = number_subtract(range.zw, low);
    if (number_below(range.zw, low)) return empty;
    if (shift == 0u) return range;
    // The number of keys of a part; part * each is below 2^64.
    K each = number_add(uvec2(width.x >> shift | width.y << (32u - shift), width.y >> shift), uvec2(1u, 0u));
    K first;
    umulExtended(each.x, part, first.y, first.x);
    first.y += each.y * part;
    if (number_below(width, first)) return empty;
    K last = number_min(width, number_add(first, number_subtract(each, uvec2(1u, 0u))));
    return P(number_add(low, first), number_add(low, last));
}
#else
uvec2 range_part(uvec2 ranges, uint q, uint shift) {
    uvec2 range = plain_load2(address_at(ranges, q >> shift, 3u));
    uint part = q & ((1u << shift) - 1u), width = range.y - range.x;
    if (range.x > range.y) return uvec2(1u, 0u);
    if (shift == 0u) return range;
    uint each = (width >> shift) + 1u;   // the number of keys of a part; part * each is below 2^32
    uint first = part * each;
    if (first > width) return uvec2(1u, 0u);
    return range.x + uvec2(first, min(width, first + (each - 1u)));
}
#endif

#endif
