// Writes the descriptors of a graph after its buckets were built.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "graph.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    Graph graph;
    uvec2 begins;    // vertices + 1 words: the index of each vertex's first arc
    uvec2 places;    // one word per vertex: the number of base slabs of earlier vertices
    uvec2 needs;     // one word per vertex: its number of buckets, 0 if it has no arcs
    uint vertices;
    uint base;       // the number of the first base slab
};

void main() {
    uint i = invocation_index();
    if (i >= vertices) return;
    uint buckets = plain_load_at(needs, i);
    uvec4 words = uvec4(SLAB_NULL, 1u, 0u, 0u);
    if (buckets != 0u) {
        uint degree = plain_load_at(begins, i + 1u) - plain_load_at(begins, i);
        words = uvec4(pool_slab(base + plain_load_at(places, i)), buckets, degree, 0u);
    }
    plain_store4(graph_vertex_at(graph, i), words);
}
