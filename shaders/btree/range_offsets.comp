// Sums up the pairs of ranges that were counted part by part, and those of all ranges.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 before;    // one word per part, and one more: the number of pairs in earlier parts, modulo 2^32
    uvec2 offsets;   // output, one word per range, and one more: the number of pairs in earlier ranges. 0: not wanted
    uvec2 counts;    // output, one word per range: its number of pairs. 0: not wanted
    uvec2 total;     // output, two words: the number of pairs of all ranges. The first must be 0 before
    uint count;      // the number of parts of all ranges
    uint shift;      // log2 of the number of parts per range
};

bool wanted(uvec2 address) { return (address.x | address.y) != 0u; }

void main() {
    uint q = invocation_index();
    if (q > count) return;
    uint here = plain_load_at(before, q);
    // No part has 2^32 pairs, so each overflow of the sum shows.
    if (q != 0u && here < plain_load_at(before, q - 1u)) atomic_add(address_add(total, 4u), 1u);
    if (q == count) plain_store(total, here);
    uint first = (1u << shift) - 1u;
    if ((q & first) != 0u) return;
    if (wanted(offsets)) plain_store_at(offsets, q >> shift, here);
    if (wanted(counts) && q < count) plain_store_at(counts, q >> shift, plain_load_at(before, q + first + 1u) - here);
}
