// Says how many pairs ranges have that were counted part by part, and all of them together.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 before;    // a word a part, and one more: the pairs of all parts before it, modulo 2^32
    uvec2 offsets;   // a word a range, and one more, out: the pairs before it. 0: not wanted
    uvec2 counts;    // a word a range, out: its pairs. 0: not wanted
    uvec2 total;     // two words: of the low one 0; the high one is added to. out: the pairs of all ranges
    uint count;      // parts of all ranges
    uint shift;      // log2 of the parts of a range
};

bool wanted(uvec2 address) { return (address.x | address.y) != 0u; }

void main() {
    uint q = invocation_index();
    if (q > count) return;
    uint here = plain_load_at(before, q);
    // No part has 2^32 pairs, so that the sum is seen to pass them.
    if (q != 0u && here < plain_load_at(before, q - 1u)) atomic_add(address_add(total, 4u), 1u);
    if (q == count) plain_store(total, here);
    uint first = (1u << shift) - 1u;
    if ((q & first) != 0u) return;
    if (wanted(offsets)) plain_store_at(offsets, q >> shift, here);
    if (wanted(counts) && q < count) plain_store_at(counts, q >> shift, plain_load_at(before, q + first + 1u) - here);
}
