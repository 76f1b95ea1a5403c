// Batch edges: the sorted edges of a batch, with a filter for searches: one bit per edge, chosen by its hash. The
// filter is large enough to reject 31 of 32 edges that are not in the batch (Bloom, Space/Time Trade-offs in Hash
// Coding with Allowable Errors, 1970, with one hash function).
#ifndef VKDS_ANALYTICS_BATCH_EDGES_GLSL
#define VKDS_ANALYTICS_BATCH_EDGES_GLSL

#include "memory.glsl"
#include "hash.glsl"

struct BatchEdges {
    uvec2 edges;         // numbers of 64 bits, ascending: the lesser end in the upper half, the greater one below
    uvec2 filter_bits;   // the filter's words
    uint count;          // the number of edges, some of which may be equal
    uint filter_mask;    // the number of words minus 1. The number is a power of two, at most 2^27
};

uvec2 batch_edge(BatchEdges b, uint i) { return plain_load2(address_at(b.edges, i, 3u)); }

uvec2 filter_word(BatchEdges b, uint hash) { return address_at(b.filter_bits, (hash >> 5) & b.filter_mask, 2u); }
uint filter_bit(uint hash) { return 1u << (hash & 31u); }

// Whether an edge is in the batch.
bool in_batch(BatchEdges b, uint u, uint v) {
    uvec2 edge = uvec2(max(u, v), min(u, v));
    uint hash = hash_mix(edge);
    if ((plain_load(filter_word(b, hash)) & filter_bit(hash)) == 0u) return false;
    uint low = 0u, high = b.count;
    while (low < high) {
        uint middle = low + (high - low) / 2u;
        uvec2 there = batch_edge(b, middle);
        if (there == edge) return true;
        if (there.y < edge.y || there.y == edge.y && there.x < edge.x) low = middle + 1u;
        else high = middle;
    }
    return false;
}

#endif
