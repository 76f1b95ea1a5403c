// Counts slots, slabs and vertices, in a read-only phase of the graph.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "buckets.glsl"
#include "invocation.glsl"

// The survey has several rows, so that subgroups don't contend for one. The host adds the rows up, or takes the maximum
// of LONGEST, GREATEST and LEAST.
const uint ROWS = 64u;
const uint ROW_SHIFT = 6u;       // 64 bytes per row
const uint LIVE_AT = 0u;         // slots with a key
const uint TOMBSTONES_AT = 4u;   // erased slots
const uint SLABS_AT = 8u;
const uint LONGEST_AT = 12u;     // the number of slabs of the longest bucket
const uint GREATEST_AT = 16u;    // the greatest degree
const uint LONE_AT = 20u;        // vertices without neighbours
const uint BUCKETS_AT = 24u;     // buckets with slabs
const uint LEAST_AT = 28u;       // ~ of the least degree, so that it is a maximum, too

layout(push_constant, std430) uniform Push {
    Graph graph;
    Hubs hubs;
    uvec2 rows;
    uint extent;   // the number of vertices
    uint first;    // this dispatch reads the buckets first … last-1
    uint last;
};

void main() {
    uint tile = invocation_index() / TILE, i = first + tile;
    GraphBucket b = GraphBucket(0u, 0u, SLAB_NULL, GraphVertex(SLAB_NULL, 1u, 0u, GRAPH_DELETED));
    bool mine = i < last;
    if (mine) b = graph_bucket_at(graph, hubs, extent, i);
    SlabWalk walk = slab_walk(graph.pool, b.first);
    uint live = 0u, tombstones = 0u, slabs = 0u;
    while (subgroupAny(walk.more)) {
        bool reads = walk.more;
        Node node = slab_walk_on(graph.pool, walk);
        if (reads) {
            live += uint(bitCount(slab_live_mask(node)));
            tombstones += uint(bitCount(slab_lane_mask(node, SLAB_TOMBSTONE)));
            slabs++;
        }
    }
    bool counts = mine && tile_lane() == 0u;
    bool vertex = counts && i < extent && (b.of.state & GRAPH_DELETED) == 0u;
    uvec2 row = address_at(rows, hash_mix(tile / gl_SubgroupSize) & (ROWS - 1u), ROW_SHIFT);
    uint all_live = subgroupAdd(live);
    uint all_tombstones = subgroupAdd(tombstones);
    uint all_slabs = subgroupAdd(counts ? slabs : 0u);
    uint lone = subgroupAdd(vertex && b.of.degree == 0u ? 1u : 0u);
    uint buckets = subgroupAdd(counts && slabs != 0u ? 1u : 0u);
    uint longest = subgroupMax(slabs);
    uint greatest = subgroupMax(vertex ? b.of.degree : 0u);
    uint least = subgroupMax(vertex ? ~b.of.degree : 0u);
    if (subgroupElect()) {
        atomic_add(address_add(row, LIVE_AT), all_live);
        atomic_add(address_add(row, TOMBSTONES_AT), all_tombstones);
        atomic_add(address_add(row, SLABS_AT), all_slabs);
        atomic_add(address_add(row, LONE_AT), lone);
        atomic_add(address_add(row, BUCKETS_AT), buckets);
        graph_raise(address_add(row, LONGEST_AT), longest);
        graph_raise(address_add(row, GREATEST_AT), greatest);
        graph_raise(address_add(row, LEAST_AT), least);
    }
}
