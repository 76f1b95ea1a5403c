// Which class of rows each vertex's is of, by its length.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "invocation.glsl"
#include "neighbors.glsl"

layout(push_constant, std430) uniform Push {
    Rows graph;
    uvec2 classes;    // a word a vertex, out
    uint short_row;   // lanes of a row of class 0 at most,
    uint long_row;    // and of class 1; longer ones are of class 2
};

void main() {
    uint v = invocation_index();
    if (v >= graph.vertices) return;
    uint lanes = max(row_of(graph, v).lanes, row_degree(graph, v));   // of which each may go on
    plain_store_at(classes, v, lanes <= short_row ? 0u : lanes <= long_row ? 1u : 2u);
}
