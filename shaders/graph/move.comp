// Copies the adjacencies of vertices from their old buckets to new ones.
//
// Because buckets are ranges of hash values, the keys of a new bucket are in consecutive old ones. Each tile gathers
// one new bucket, densely, without atomics. If the pool is full, the tile counts its bucket as failed. The same
// dispatch may then be repeated with a larger pool; it overwrites its own output.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../slabhash/slab_compact.glsl"
#include "buckets.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    Graph graph;
    uvec2 places;   // one word per vertex: the number of new base slabs of earlier vertices
    uvec2 needs;    // one word per vertex: its new number of buckets
    uvec2 failed;   // two counters: buckets that the pool had no slab for, and buckets whose list has no end
    uint extent;    // the number of vertices
    uint base;      // the number of the first new base slab
    uint first;     // this dispatch fills the new buckets first … first+count-1
    uint count;
};

// The old bucket with the keys at the beginning of a new one. `safe`, a bit less or more than 1, makes up for rounding:
// the result is then not too high, or not too low.
uint share(uint bucket, uint buckets, uint old, float safe) {
    return min(uint(float(bucket) / float(buckets) * float(old) * safe), old - 1u);
}

void main() {
    uint tile = invocation_index() / TILE;
    bool mine = tile < count;
    uint number = first + tile, vertex = 0u, bucket = 0u, buckets = 1u;
    if (mine) {
        vertex = spread_vertex(places, extent, number);
        bucket = number - plain_load_at(places, vertex);
        buckets = plain_load_at(needs, vertex);
    }
    GraphVertex old = graph_vertex(graph, vertex, mine);
    SlabCursor cursor = slab_cursor();
    uint source = share(bucket, buckets, old.buckets, 1.0 - 1e-6);
    uint last = share(bucket + 1u, buckets, old.buckets, 1.0 + 1e-6);
    SlabWalk walk = slab_walk(graph.pool, graph_base(old, source));
    uvec2 to = uvec2(0u);
    if (mine) to = slab_address(graph.pool, pool_slab(base + number));
    SlabWriter writer = SlabWriter(to, 0u);
    bool failed_here = false, endless = false;
    uint visits = (graph.pool.blocks << 10) + 1u;   // for all old buckets together; no pool has more slabs
    while (subgroupAny(walk.more)) {
        bool reads = walk.more;
        Node node = slab_walk_on(graph.pool, walk);
        uint live = reads && !failed_here ? slab_live_mask(node) : 0u;
        uint mask = 0u;
        [[unroll]] for (uint m = 0u; m < SLAB_LANE_SLOTS; m++)
            if (((live >> m) & 1u) != 0u && graph_bucket(graph, slab_lane_key(node, m), buckets) == bucket)
                mask |= 1u << m;
        SlabRanks ranks = slab_ranks(mask);
        bool crosses = slab_writer_crosses(writer, ranks);
        uint behind = SLAB_NULL;
        if (crosses) behind = plain_load(address_add(writer.slab, SLAB_NEXT_AT));
        bool extend = crosses && behind == SLAB_NULL && tile_lane() == 0u;
        if (subgroupAny(extend)) {
            uint fresh = slab_allocate(graph.pool, cursor, extend);
            if (extend && fresh != SLAB_NULL) plain_store(address_add(writer.slab, SLAB_NEXT_AT), fresh);
            fresh = tile_shuffle(fresh, 0u);
            if (crosses && behind == SLAB_NULL) behind = fresh;
        }
        uvec2 beyond = uvec2(0u);
        failed_here = failed_here || crosses && behind == SLAB_NULL;
        if (crosses && behind != SLAB_NULL) beyond = slab_address(graph.pool, behind);
        if (failed_here) {
            mask = 0u;
            [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++) ranks.before[j] = 0u;
            ranks.total = 0u;
        }
        slab_writer_append(writer, node, mask, ranks, beyond);
        bool ends = reads && !walk.more;
        endless = endless || ends && walk.left == ~0u;
        visits -= reads && visits != 0u ? 1u : 0u;
        if (ends && !failed_here && source < last && visits != 0u) {
            source++;
            walk = slab_walk(graph.pool, graph_base(old, source));
        }
    }
    if (mine && tile_lane() == 0u) plain_store(address_add(writer.slab, SLAB_AUX_AT), slab_aux(writer.filled));
    uint counts = subgroupAdd(tile_lane() == 0u ? uint(failed_here) | uint(endless) << 16 : 0u);
    if (counts != 0u && subgroupElect()) {
        atomic_add(failed, counts & 0xffffu);
        atomic_add(address_add(failed, 4u), counts >> 16);
    }
}
