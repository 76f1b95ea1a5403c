// Which class of rows each vertex's is of, by its length.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "invocation.glsl"
#include "neighbors.glsl"

layout(push_constant, std430) uniform Push {
    Rows graph;
    uvec2 classes;   // a word a vertex, out
    uint most[3];    // lanes of a row of class 0, 1, 2 at most; longer ones are of class 3
};

void main() {
    uint v = invocation_index();
    if (v >= graph.vertices) return;
    uint lanes = max(row_of(graph, v).lanes, row_degree(graph, v));   // of which each may go on
    plain_store_at(classes, v, lanes <= most[0] ? 0u : lanes <= most[1] ? 1u : lanes <= most[2] ? 2u : 3u);
}
