// Links the two ends of each edge.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "link.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 labels;
    uvec2 left;     // a word; 1 is set if a link was given up, 2 if an end is not a valid vertex
    uvec2 from;
    uvec2 to;
    uint edges;
    uint vertices;
};

void main() {
    uint i = invocation_index();
    if (i >= edges) return;
    uint u = plain_load_at(from, i), v = plain_load_at(to, i);
    if (max(u, v) >= vertices) atomic_or(left, 2u);
    else if (!link(labels, u, v)) atomic_or(left, 1u);
}
