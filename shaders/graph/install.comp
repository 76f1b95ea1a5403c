// Gives vertices their new base slabs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "graph.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    Graph graph;
    uvec2 places;   // one word per vertex: the number of new base slabs of earlier vertices
    uvec2 needs;    // one word per vertex: its new number of buckets, 0 if it keeps the old ones
    uint extent;    // the number of vertices
    uint base;      // the number of the first new base slab
};

void main() {
    uint i = invocation_index();
    if (i >= extent) return;
    uint buckets = plain_load_at(needs, i);
    if (buckets == 0u) return;
    plain_store2(graph_vertex_at(graph, i), uvec2(pool_slab(base + plain_load_at(places, i)), buckets));
}
