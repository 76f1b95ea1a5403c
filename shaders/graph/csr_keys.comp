// Makes the keys by which edges are sorted into rows: the source, then the target. If both directions are wanted, the
// two arcs of an edge are consecutive. So a stable sort keeps the order of edges in both directions.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "number.glsl"
#include "invocation.glsl"
#include "memory.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 from;
    uvec2 to;
    uvec2 weights;       // 0, or one per edge; copied only if an edge becomes two arcs
    uvec2 keys;          // output: numbers of 64 bits
    uvec2 arc_weights;   // output
    uvec2 wrong;         // output: a word, not 0 if an id is not a valid vertex
    uint edges;
    uint vertices;
    uint bits;           // per id
    uint both;           // 1: two arcs per edge, one in each direction
};

uvec2 key_of(uint row, uint target) {
    uvec2 key = number_shifted(row, bits);
    return uvec2(key.x | target, key.y);
}

void main() {
    uint i = invocation_index();
    if (i >= edges) return;
    uint a = plain_load_at(from, i), b = plain_load_at(to, i);
    if (max(a, b) >= vertices) {
        atomic_or(wrong, 1u);
        a = min(a, vertices - 1u);
        b = min(b, vertices - 1u);
    }
    if (both == 0u) {
        plain_store2(address_at(keys, i, 3u), key_of(a, b));
        return;
    }
    plain_store2(address_at(keys, 2u * i, 3u), key_of(a, b));
    plain_store2(address_at(keys, 2u * i + 1u, 3u), key_of(b, a));
    if ((weights.x | weights.y) == 0u) return;
    uint weight = plain_load_at(weights, i);
    plain_store_at(arc_weights, 2u * i, weight);
    plain_store_at(arc_weights, 2u * i + 1u, weight);
}
