// Fetches the numbers of the segments of elements that were sorted by key.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 order;      // of each its index before the sort
    uvec2 in_segment; // numbers of segments, by those indices
    Length count;
    uvec2 sorted;    // out
};

void main() {
    uint i = invocation_index();
    if (i >= length_of(count)) return;
    plain_store_at(sorted, i, plain_load_at(in_segment, min(plain_load_at(order, i), count.n - 1u)));
}
