// Clears the flags of those pairs of a run whose keys lie in ranges. An invocation has a word of flags.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sorted_run.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 flags;    // a bit a pair
    uvec2 ranges;   // a P each, the least and the greatest key; they ascend, and none overlaps another
    uint count;     // pairs
    uint all;       // ranges
};

// The first range from one on that doesn't end before a key.
uint range_from(uint begin, K key) {
    uint end = all;
    while (begin < end) {
        uint middle = begin + ((end - begin) >> 1);
        if (VKDS_BELOW(VKDS_LOAD_AT(ranges, 2u * middle + 1u), key)) begin = middle + 1u;
        else end = middle;
    }
    return begin;
}

void main() {
    uint word = invocation_index();
    if (word > (count - 1u) >> 5) return;
    uint keep = plain_load_at(flags, word);
    uint range = 0u;
    P ends = P(0u);   // of the range; at first of none
    bool searched = false;
    for (uint bit = 0u; bit < 32u; bit++) {
        uint i = (word << 5) + bit;
        if (i >= count) break;
        K key = VKDS_LOAD_AT(keys, i);
        if (!searched || VKDS_ABOVE(key, ends.VKDS_VALUE)) {
            searched = true;
            range = range_from(range, key);
            if (range == all) break;   // keys ascend
            ends = VKDS_SLOT_LOAD(address_at(ranges, range, VKDS_SHIFT + 1u));
        }
        if (VKDS_FROM(key, ends.VKDS_KEY)) keep &= ~(1u << bit);
    }
    plain_store_at(flags, word, keep);
}
