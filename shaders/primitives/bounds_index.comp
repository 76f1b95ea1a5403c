// Builds the index of a sorted array, for bounds.comp. Each lane writes one key of the index.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "search_index.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    Length key_count;
    uvec2 index;   // output
};

void main() {
    uint n = length_of(key_count);
    uint levels = index_levels(n);
    uint i = invocation_index();
    uint at = i;   // the place within the level
    uint level = 1u;
    while (level <= levels && at >= index_size(n, level)) at -= index_size(n, level++);
    if (level > levels) return;
    bool sample_there = at < n >> level_shift(level);
    K key = KEY_MOST;
    if (sample_there) key = index_sample(keys, level, at);
    key_store_at(index, i, key);
}
