// Finds edges, in a read-only phase of the graph.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "graph.glsl"
#include "length.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    Graph graph;
    uvec2 from;      // one vertex per query
    uvec2 to;
    uvec2 weights;   // output: one per query, 0 if the edge is absent; 0: not wanted
    uvec2 found;     // output: one byte per query, 0 or 1
    Length count;
};

void main() {
    uint i = invocation_index(), n = length_of(count);
    bool enabled = i < n;
    uint a = 0u, b = 0u, value;
    if (enabled) {
        a = plain_load_at(from, i);
        b = plain_load_at(to, i);
    }
    bool there = graph_find(graph, a, b, enabled, value);
    if (enabled && weights != uvec2(0u)) plain_store_at(weights, i, value);
    byte_store(found, i, n, there ? 1u : 0u);
}
