// Writes the vertex that each arc of compressed sparse rows is from.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "search.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 offsets;   // a word a vertex, and one
    uvec2 from;      // a word an arc, out
    uint vertices;
    uint arcs;
};

void main() {
    uint i = invocation_index();
    if (i < arcs) plain_store_at(from, i, upper_bound(offsets, 0u, vertices, i) - 1u);
}
