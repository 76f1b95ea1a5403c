// Makes rows of sorted arcs: the target of each arc, and for each vertex the beginning of its row, by a binary search.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "number.glsl"
#include "invocation.glsl"
#include "memory.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;      // numbers of 64 bits, ascending
    uvec2 offsets;   // output: vertices + 1 words
    uvec2 targets;   // output
    uvec2 wide;      // numbers of 64 bits whose upper halves are the weights; 0: there are none
    uvec2 weights;   // output
    uint arcs;
    uint vertices;
    uint bits;       // per id
};

// The first arc whose row is this one or a later one.
uint row_begin(uint row) {
    uvec2 least = number_shifted(row, bits);
    uint low = 0u, high = arcs;
    while (low < high) {
        uint middle = low + (high - low) / 2u;
        if (number_below(plain_load2(address_at(keys, middle, 3u)), least)) low = middle + 1u;
        else high = middle;
    }
    return low;
}

void main() {
    uint i = invocation_index();
    if (i < arcs) {
        plain_store_at(targets, i, plain_load(address_at(keys, i, 3u)) & (~0u >> (32u - bits)));
        if ((wide.x | wide.y) != 0u) plain_store_at(weights, i, plain_load_at(wide, 2u * i + 1u));
    }
    if (i < vertices) plain_store_at(offsets, i, row_begin(i));
    if (i == vertices) plain_store_at(offsets, i, arcs);
}
