// Writes the valid pairs of ranges without gaps, and the beginning of each range.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "width.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 flags;         // one bit per candidate
    uvec2 before;        // one word per word of flags, and one more: the number of flags before it
    uvec2 from_keys;     // one per candidate
    uvec2 from_values;
    uvec2 candidates;    // one word per range: the number of its first candidate
    uvec2 offsets;       // output: count + 1 words, the index of each range's first pair
    uvec2 out_keys;      // output: one per pair
    uvec2 out_values;
    uvec2 total;         // two words: the number of candidates of all ranges
    uvec2 out_total;     // output: the same number
    uint count;          // the number of ranges
    uint limit;          // if there are more candidates, none was flagged
    uint capacity;       // the number of pairs that fit into the output
};

// The number of flags before bit i.
uint flags_before(uint i) {
    uint below = plain_load(address_at(before, i >> 5, 2u));
    if ((i & 31u) == 0u) return below;
    return below + uint(bitCount(plain_load(address_at(flags, i >> 5, 2u)) & ((1u << (i & 31u)) - 1u)));
}

void main() {
    uint i = invocation_index();
    uvec2 all = plain_load2(total);
    uint used = all.y == 0u && all.x <= limit ? all.x : 0u;   // otherwise nothing was flagged
    if (i < used && ((plain_load(address_at(flags, i >> 5, 2u)) >> (i & 31u)) & 1u) != 0u) {
        uint to = flags_before(i);
        if (to < capacity) {
            VKDS_STORE(address_at(out_keys, to, VKDS_SHIFT), VKDS_LOAD(address_at(from_keys, i, VKDS_SHIFT)));
            VKDS_STORE(address_at(out_values, to, VKDS_SHIFT), VKDS_LOAD(address_at(from_values, i, VKDS_SHIFT)));
        }
    }
    if (i <= count) {
        uint candidate = used;
        if (i < count) candidate = min(plain_load(address_at(candidates, i, 2u)), used);
        plain_store(address_at(offsets, i, 2u), flags_before(candidate));
    }
    if (i == 0u) plain_store2(out_total, all);
}
