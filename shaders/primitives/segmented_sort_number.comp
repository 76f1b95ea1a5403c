// Fetches the numbers of the segments of elements that were sorted by key.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 places;    // where each was before
    uvec2 numbers;   // of the segments, by those places
    Length count;
    uvec2 sorted;    // out
};

void main() {
    uint i = invocation_index();
    if (i >= length_of(count)) return;
    plain_store(address_at(sorted, i, 2u), plain_load(address_at(numbers, plain_load(address_at(places, i, 2u)), 2u)));
}
