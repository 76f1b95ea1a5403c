// Fetches the segment numbers of elements that were sorted by their keys.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 order;      // for each element, its index before the sort
    uvec2 in_segment; // segment numbers, by those indices
    Length count;
    uvec2 sorted;    // output
};

void main() {
    uint i = invocation_index();
    if (i >= length_of(count)) return;
    plain_store_at(sorted, i, plain_load_at(in_segment, min(plain_load_at(order, i), count.n - 1u)));
}
