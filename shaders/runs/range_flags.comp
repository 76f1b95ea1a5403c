// Counts the flags in each word of a bitmap.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 flags;
    uvec2 counts;   // output: one word per word of flags
    uint words;
};

void main() {
    uint i = invocation_index();
    if (i < words) plain_store(address_at(counts, i, 2u), uint(bitCount(plain_load(address_at(flags, i, 2u)))));
}
