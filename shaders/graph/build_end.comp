// Makes the descriptors of a graph that was built.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "graph.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    Graph graph;
    uvec2 begins;    // a word a vertex and one: where its arcs begin
    uvec2 places;    // a word a vertex: base slabs of those before it
    uvec2 needs;     // a word a vertex: its buckets, 0 where it has no arcs
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
