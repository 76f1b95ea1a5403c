// Buckets: assigns all buckets of a graph to tiles, one each, while nobody changes the graph.
//
// The bucket of a vertex with one bucket has the vertex's number. After all vertices come the buckets of the others,
// hubs, in the order of their vertices. `offsets` has the number of such buckets before each vertex.
#ifndef VKDS_GRAPH_BUCKETS_GLSL
#define VKDS_GRAPH_BUCKETS_GLSL

#include "graph.glsl"
#include "search.glsl"

struct Hubs {
    uvec2 offsets;   // a word a vertex, ascending
    uint vertices;   // that these are about: others have one bucket
    uint buckets;    // of hubs
};

struct GraphBucket {
    uint vertex, bucket;
    uint first;      // its first slab, SLAB_NULL where there is none
    GraphVertex of;
};

// The vertex among so many to which number i of what is spread by offsets belongs: the last whose offset is not above.
uint spread_vertex(uvec2 offsets, uint vertices, uint i) { return upper_bound(offsets, 0u, vertices, i) - 1u; }

// The i-th of `extent` vertices' buckets, of no slabs behind the last one.
GraphBucket graph_bucket_at(Graph g, Hubs hubs, uint extent, uint i) {
    GraphBucket b = GraphBucket(i, 0u, SLAB_NULL, GraphVertex(SLAB_NULL, 1u, 0u, 0u));
    bool hub = i >= extent && i - extent < hubs.buckets;
    if (hub) b.vertex = spread_vertex(hubs.offsets, hubs.vertices, i - extent);
    b.of = graph_vertex(g, b.vertex, hub || i < extent);
    if (hub) b.bucket = i - extent - plain_load_at(hubs.offsets, b.vertex);
    bool right = hub ? b.of.buckets > 1u && b.bucket < b.of.buckets : i < extent && b.of.buckets == 1u;
    if (right) b.first = graph_base(b.of, b.bucket);
    return b;
}

uint tile_sum(uint value) {
    [[unroll]] for (uint step = 1u; step < 32u; step <<= 1) {
        uint other = tile_shuffle(value, tile_lane() ^ (step & (TILE - 1u)));
        value += step < TILE ? other : 0u;
    }
    return value;
}

#endif
