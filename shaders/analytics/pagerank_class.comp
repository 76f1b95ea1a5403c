// Computes the class of each vertex's row, by its length.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "invocation.glsl"
#include "neighbors.glsl"

layout(push_constant, std430) uniform Push {
    Rows graph;
    uvec2 classes;   // output: one word per vertex
    uint most[3];    // the greatest length in the classes 0, 1 and 2; longer rows are in class 3
};

void main() {
    uint v = invocation_index();
    if (v >= graph.vertices) return;
    uint arcs = row_degree(graph, v);
    plain_store_at(classes, v, arcs <= most[0] ? 0u : arcs <= most[1] ? 1u : arcs <= most[2] ? 2u : 3u);
}
