// Writes for each segment the number of elements that no workgroup sorts: all or none of its elements.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "segment_tile.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 offsets;    // segments + 1 words: the first element of each segment, and the end of the last one
    uvec2 sizes;      // output: one word per segment
    uint segments;
};

void main() {
    uint i = invocation_index();
    if (i >= segments) return;
    uint begin = plain_load(address_at(offsets, i, 2u));
    uint end = plain_load(address_at(offsets, i + 1u, 2u));
    plain_store(address_at(sizes, i, 2u), segment_fits(begin, end) ? 0u : end - begin);
}
