// Makes the arcs of edges: one per edge, or two consecutive ones per undirected edge. So a stable sort keeps the order
// of edges in both directions.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    Graph graph;
    uvec2 from;
    uvec2 to;
    uvec2 weights;       // 0: there are none
    uvec2 arcs;          // output: numbers of 64 bits
    uvec2 arc_weights;   // output
    uvec2 wrong;         // output: a word, not 0 if an end of an edge is not a valid vertex
    uint count;          // the number of edges
    uint both;           // 1: two arcs per edge
    uint loops;          // 0: edges from a vertex to itself are left out
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uint a = plain_load_at(from, i), b = plain_load_at(to, i), weight = 0u;
    bool sound = max(a, b) < graph.capacity, there = sound && (a != b || loops != 0u);
    if (!sound) atomic_or(wrong, 1u);
    if (weights != uvec2(0u)) weight = plain_load_at(weights, i);
    uvec2 first = there ? arc_number(graph, a, b) : ARC_NONE;
    uvec2 second = there && a != b ? arc_number(graph, b, a) : ARC_NONE;
    if (both != 0u) {
        plain_store4(address_at(arcs, i, 4u), uvec4(first, second));
        if (weights != uvec2(0u)) plain_store2(address_at(arc_weights, i, 3u), uvec2(weight));
    } else {
        plain_store2(address_at(arcs, i, 3u), first);
        if (weights != uvec2(0u)) plain_store_at(arc_weights, i, weight);
    }
}
