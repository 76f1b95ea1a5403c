// Writes the degrees of vertices, of all or of those that are asked for, while nobody changes the graph.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "graph.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    Graph graph;
    uvec2 vertices;   // a word a vertex that is asked for; 0: 0, 1, 2, …
    uvec2 degrees;    // a word each, out
    uvec2 tiles;      // a word each, out: its buckets, 0 of one without slabs; 0: not wanted
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
