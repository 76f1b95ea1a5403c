// Looks keys up, while nothing inserts.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "bloom_filter.glsl"
#include "length.glsl"
#include "results.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BloomFilter bloom;
    uvec2 keys;
    uvec2 found;   // output: one byte per key, 0 or 1
    Length count;
};

void main() {
    uint i = invocation_index(), n = length_of(count);
    bool there = false;
    if (i < n) there = bloom_filter_contains(bloom, VKDS_LOAD(address_at(keys, i, VKDS_SHIFT)));
    byte_store(found, i, n, there ? 1u : 0u);
}
