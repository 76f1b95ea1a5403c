// Converts the found bytes of a batch of lookups to bits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 found;    // one byte per query, 0 or 1; padded with 0 to whole words
    uvec2 bits;     // output: one bit per query; padded with 0 to whole words
    Length count;
};

// Each lane makes one word of bits.
void main() {
    uint i = invocation_index(), n = length_of(count);
    if (i * 32u >= n) return;
    uint word = 0u;
    for (uint j = 0u; j < 8u && i * 32u + j * 4u < n; j++) {
        uint four = plain_load(address_add(found, i * 32u + j * 4u));
        word |= ((four | four >> 7 | four >> 14 | four >> 21) & 15u) << (4u * j);
    }
    plain_store(address_at(bits, i, 2u), word);
}
