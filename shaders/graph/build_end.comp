// Writes the descriptors of a graph after its buckets were built.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "graph.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    Graph graph;
    uvec2 places;    // a word per vertex: the number of base slabs of earlier vertices
    uvec2 needs;     // a word per vertex: its number of buckets, 0 if it has no arcs
    uvec2 sums;      // a word per bucket, and one more: the number of arcs of earlier buckets
    uint vertices;
    uint base;       // the number of the first base slab
};

void main() {
    uint i = invocation_index();
    if (i >= vertices) return;
    uint buckets = plain_load_at(needs, i);
    uvec4 words = uvec4(SLAB_NULL, 1u, 0u, 0u);
    if (buckets != 0u) {
        uint place = plain_load_at(places, i);
        uint degree = plain_load_at(sums, place + buckets) - plain_load_at(sums, place);
        words = uvec4(pool_slab(base + place), buckets, degree, 0u);
    }
    plain_store4(graph_vertex_at(graph, i), words);
}
