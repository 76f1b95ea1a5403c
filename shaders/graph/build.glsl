// Build: sort keys of arcs. A key is a number of 64 bits: in the upper half the source, in the lower half the hash of
// the target. So the arcs of a vertex are consecutive, and those of each of its buckets, too, because buckets are
// ranges of hash values.
#ifndef VKDS_GRAPH_BUILD_GLSL
#define VKDS_GRAPH_BUILD_GLSL

#include "graph.glsl"

const uvec2 ARC_NONE = uvec2(~0u);   // sorts after all others, because no vertex has this number

uvec2 arc_number(Graph g, uint from, uint to) { return uvec2(hash_mix(graph_encode(to) ^ g.seed), from); }

// The inverse of hash_mix.
uint hash_unmix(uint x) {
    x ^= x >> 15 ^ x >> 30;
    x *= 0x37132227u;
    x ^= x >> 15 ^ x >> 30;
    x *= 0x333c4925u;
    x ^= x >> 16;
    return x;
}

// The target of an arc, as a key in a slab.
uint arc_key(Graph g, uvec2 number) { return hash_unmix(number.x) ^ g.seed; }

#endif
