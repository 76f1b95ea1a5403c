// Build: sort keys of arcs, numbers of 64 bits: first the vertex that an arc comes from, then the hash of the one that
// it leads to. So the arcs of a vertex are consecutive, and those of each of its buckets, too, because buckets are
// ranges of hash values.
#ifndef VKDS_GRAPH_BUILD_GLSL
#define VKDS_GRAPH_BUILD_GLSL

#include "graph.glsl"

const uvec2 ARC_NONE = uvec2(~0u);   // sorted behind all others: no vertex has this number

uvec2 arc_number(Graph g, uint from, uint to) { return uvec2(hash_mix(graph_encode(to) ^ g.seed), from); }

// The number of whose bits hash_mix makes a hash.
uint hash_unmix(uint x) {
    x ^= x >> 15 ^ x >> 30;
    x *= 0x37132227u;
    x ^= x >> 15 ^ x >> 30;
    x *= 0x333c4925u;
    x ^= x >> 16;
    return x;
}

// What an arc's target is in a slab.
uint arc_key(Graph g, uvec2 number) { return hash_unmix(number.x) ^ g.seed; }

#endif
