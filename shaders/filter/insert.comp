// Inserts keys, also while other dispatches do.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "bloom_filter.glsl"
#include "length.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BloomFilter bloom;
    uvec2 keys;
    Length count;
};

void main() {
    uint i = invocation_index();
    bool enabled = i < length_of(count);
    K key = K(0u);
    if (enabled) key = VKDS_LOAD(address_at(keys, i, VKDS_SHIFT));
    bloom_filter_insert(bloom, key, enabled);
}
