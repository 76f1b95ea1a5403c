// Gives vertices their new base slabs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "graph.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    Graph graph;
    uvec2 places;   // a word a vertex: base slabs of those before it
    uvec2 needs;    // a word a vertex: its new buckets, 0 where it keeps the old ones
    uint extent;    // vertices
    uint base;      // the number of the first base slab
};

void main() {
    uint i = invocation_index();
    if (i >= extent) return;
    uint buckets = plain_load_at(needs, i);
    if (buckets == 0u) return;
    plain_store2(graph_vertex_at(graph, i), uvec2(pool_slab(base + plain_load_at(places, i)), buckets));
}
