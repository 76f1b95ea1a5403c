// Buckets: assigns one bucket of a graph to each tile, in a read-only phase of the graph.
//
// A vertex with one bucket has the bucket with its own number. Hubs are vertices with several buckets. Their buckets
// come after all vertices, in the order of the hubs. `offsets` has the number of hubs' buckets before each vertex.
#ifndef VKDS_GRAPH_BUCKETS_GLSL
#define VKDS_GRAPH_BUCKETS_GLSL

#include "graph.glsl"
#include "search.glsl"

struct Hubs {
    uvec2 offsets;   // one word per vertex, ascending
    uint vertices;   // the number of offsets; vertices beyond have one bucket
    uint buckets;    // the number of hubs' buckets
};

struct GraphBucket {
    uint vertex, bucket;
    uint first;      // its first slab, or SLAB_NULL
    GraphVertex of;
};

// How many buckets a vertex with arcs gets. `each` is the average number of arcs in one, if there are several.
uint buckets_for(uint arcs, uint slots, float each, uint most) {
    return arcs <= slots ? 1u : min(uint(ceil(float(arcs) / each)), most);
}

// The vertex to which item i belongs, if `offsets` has the number of items before each vertex.
uint spread_vertex(uvec2 offsets, uint vertices, uint i) { return upper_bound(offsets, 0u, vertices, i) - 1u; }

// Bucket i of `extent` vertices. Numbers beyond the last bucket get one without slabs.
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
