// Initializes descriptors, to vertices without neighbours.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "graph.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 vertices;
    uint first;   // the vertices first … first+count-1
    uint count;
};

void main() {
    uint i = invocation_index();
    if (i < count) plain_store4(address_at(vertices, first + i, GRAPH_VERTEX_SHIFT), uvec4(SLAB_NULL, 1u, 0u, 0u));
}
