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
    uint lanes = max(row_of(graph, v).lanes, row_degree(graph, v));   // lanes may go on, so the degree counts, too
    plain_store_at(classes, v, lanes <= most[0] ? 0u : lanes <= most[1] ? 1u : lanes <= most[2] ? 2u : 3u);
}
