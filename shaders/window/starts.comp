// Writes the index of the first leaf below each node of a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 firsts;   // a word per node: its first child; 0: the nodes are leaves
    uvec2 below;    // the output for the row below
    uvec2 starts;   // output
    uint count;
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uint start = i;
    if (firsts != uvec2(0u)) start = plain_load_at(below, plain_load_at(firsts, i));
    plain_store_at(starts, i, start);
}
