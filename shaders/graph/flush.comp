// FLUSH: compacts each bucket in place, and frees the slabs that it no longer needs. If a vertex with one bucket has no
// neighbours, its base slab is freed, too. Nothing else may run on the graph.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../slabhash/slab_compact.glsl"
#include "buckets.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint SHARED = 1;   // 0: the pool has no other users

layout(push_constant, std430) uniform Push {
    Graph graph;
    Hubs hubs;
    uint extent;   // the number of vertices
    uint first;    // this dispatch does the buckets first … last-1
    uint last;
};

void main() {
    uint i = first + invocation_index() / TILE;
    GraphBucket b = GraphBucket(0u, 0u, SLAB_NULL, GraphVertex(SLAB_NULL, 1u, 0u, 0u));
    if (i < last) b = graph_bucket_at(graph, hubs, extent, i);
    bool empty = b.first != SLAB_NULL && b.of.buckets == 1u && b.of.degree == 0u;
    bool mine = b.first != SLAB_NULL && !empty;
    SlabWalk walk = slab_walk(graph.pool, mine ? b.first : SLAB_NULL);
    SlabWriter writer = SlabWriter(walk.slab, 0u);
    uint behind = SLAB_NULL;   // the slab after the writer's
    bool stale = false;        // a tombstone was met: later slots move
    while (subgroupAny(walk.more)) {
        bool reads = walk.more;
        uvec2 slab = walk.slab;
        Node node = slab_walk_on(graph.pool, walk);
        uint next = slab_next(node);
        bool erased = tile_ballot(reads && slab_lane_mask(node, SLAB_TOMBSTONE) != 0u) != 0u;
        stale = stale || erased;
        uint mask = reads && stale ? slab_live_mask(node) : 0u;
        SlabRanks ranks = slab_ranks(mask);
        uvec2 beyond = uvec2(0u);
        if (slab_writer_crosses(writer, ranks)) {
            beyond = slab_address(graph.pool, behind);
            behind = plain_load(address_add(beyond, SLAB_NEXT_AT));
        }
        slab_writer_append(writer, node, mask, ranks, beyond);
        if (reads && !stale) writer = SlabWriter(slab, SLAB_SLOTS);
        if (reads && writer.slab == slab) behind = next;
    }
    slab_writer_finish(writer, mine && stale);
    uint spare = SLAB_NULL;
    if (mine && stale) spare = behind;
    if (empty) spare = b.first;
    if (empty && tile_lane() == 0u) plain_store(graph_vertex_at(graph, b.vertex), SLAB_NULL);
    slab_chain_free(graph.pool, spare, SHARED != 0u);
}
