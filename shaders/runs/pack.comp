// Packs words into bytes.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "results.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 words;
    uvec2 bytes;   // output
    Length count;
};

void main() {
    uint i = invocation_index(), n = length_of(count);
    uint word = 0u;
    if (i < n) word = plain_load(address_at(words, i, 2u));
    byte_store(bytes, i, n, word);
}
