// Clears the flags of those pairs of a run whose keys are in ranges. Each invocation has a word of flags.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sorted_run.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 flags;    // one bit per pair
    uvec2 ranges;   // one P per range, the least and the greatest key; ascending, without overlaps
    uint count;     // the number of pairs
    uint all;       // the number of ranges
};

// The first range, from `begin` on, that does not end before the key.
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
    P ends = P(0u);   // of the range, once there is one
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
