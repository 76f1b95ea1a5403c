// Removes vertices that were marked as deleted: frees their slabs, and erases the arcs of others to them. Each tile
// takes a bucket. A second dispatch, with BURIES, resets their descriptors, with an invocation per vertex.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "buckets.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint SHARED = 1;   // 0: the pool has no other users
layout(constant_id = 17) const uint BURIES = 0;

layout(push_constant, std430) uniform Push {
    Graph graph;
    Hubs hubs;
    uvec2 gone;    // one bit per vertex: whether it was deleted
    uint extent;   // the number of vertices
    uint first;    // this dispatch does the buckets, or vertices, first … last-1
    uint last;
};

bool is_gone(uint vertex) { return (plain_load_at(gone, vertex >> 5) >> (vertex & 31u) & 1u) != 0u; }

void bury(uint vertex) {
    if (vertex < last && is_gone(vertex))
        plain_store4(graph_vertex_at(graph, vertex), uvec4(SLAB_NULL, 1u, 0u, GRAPH_DELETED));
}

void sweep(uint i) {
    GraphBucket b = GraphBucket(0u, 0u, SLAB_NULL, GraphVertex(SLAB_NULL, 1u, 0u, 0u));
    if (i < last) b = graph_bucket_at(graph, hubs, extent, i);
    bool dies = b.first != SLAB_NULL && is_gone(b.vertex);
    SlabWalk walk = slab_walk(graph.pool, b.first);
    uint erased = 0u, loops = 0u;
    while (subgroupAny(walk.more)) {
        bool reads = walk.more;
        uvec2 slab = walk.slab;
        Node node = slab_walk_on(graph.pool, walk);
        uint live = reads ? slab_live_mask(node) : 0u;
        for (uint m = 0u; m < SLAB_LANE_SLOTS; m++) {
            if (((live >> m) & 1u) == 0u) continue;
            uint to = graph_neighbor(node, m);
            if (dies && to == b.vertex) loops++;
            if (!dies && is_gone(to)) {
                plain_store(slab_slot(slab, slab_lane_slot(m)), SLAB_TOMBSTONE);
                erased++;
            }
        }
    }
    erased = tile_sum(erased);
    if (erased != 0u && tile_lane() == 0u)
        atomic_add(address_add(graph_vertex_at(graph, b.vertex), GRAPH_DEGREE_AT), 0u - erased);
    loops = subgroupAdd(loops);
    if (loops != 0u && subgroupElect()) atomic_add(address_add(graph.counters, GRAPH_LOOPS_AT), 0u - loops);
    slab_chain_free(graph.pool, dies ? b.first : SLAB_NULL, SHARED != 0u);
}

void main() {
    if (BURIES != 0u) bury(first + invocation_index());
    else sweep(first + invocation_index() / TILE);
}
