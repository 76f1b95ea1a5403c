// Writes the degrees of vertices, in a read-only phase of the graph.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "graph.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    Graph graph;
    uvec2 vertices;   // one word per queried vertex; 0: the vertices 0, 1, 2, …
    uvec2 degrees;    // output: one word per vertex
    uvec2 tiles;      // output: one word per vertex, its number of buckets, 0 if it has no slabs; 0: not wanted
    uint count;
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uint vertex = i;
    if (vertices != uvec2(0u)) vertex = plain_load_at(vertices, i);
    GraphVertex v = graph_vertex(graph, vertex, true);
    plain_store_at(degrees, i, v.degree);
    if (tiles != uvec2(0u)) plain_store_at(tiles, i, v.base == SLAB_NULL ? 0u : v.buckets);
}
