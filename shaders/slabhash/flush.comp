// FLUSH: compacts each bucket in place and frees the slabs that it no longer needs. Nothing else may run on the table.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_compact.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint SHARED = 1;   // 0: the pool has no other users

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uint first;   // the buckets first … first+count-1
    uint count;
};

void main() {
    uint tile = invocation_index() / TILE;
    bool mine = tile < count;
    SlabWalk walk = slab_hash_walk(hash, first + tile, mine);
    SlabWriter writer = SlabWriter(walk.slab, 0u);
    uint behind = SLAB_NULL;   // the slab after the writer's
    uint here = SLAB_NULL, last = SLAB_NULL;   // the slab being read and the writer's slab; SLAB_NULL for a base slab
    bool stale = false;        // a tombstone was met: later slots move
    while (subgroupAny(walk.more)) {
        bool reads = walk.more;
        uvec2 slab = walk.slab;
        Node node = slab_walk_on(hash.pool, walk);
        uint next = slab_next(node);
        bool erased = tile_ballot(reads && slab_lane_mask(node, SLAB_TOMBSTONE) != 0u) != 0u;
        stale = stale || erased;
        uint mask = reads && stale ? slab_live_mask(node) : 0u;
        SlabRanks ranks = slab_ranks(mask);
        uvec2 beyond = uvec2(0u);
        if (slab_writer_crosses(writer, ranks)) {
            last = behind;
            beyond = slab_address(hash.pool, behind);
            behind = plain_load(address_add(beyond, SLAB_NEXT_AT));
        }
        slab_writer_append(writer, node, mask, ranks, beyond);
        if (reads && !stale) {
            writer = SlabWriter(slab, SLAB_SLOTS);
            last = here;
        }
        if (reads && writer.slab == slab) behind = next;
        here = next;
    }
    if (mine && tile_lane() == 0u) plain_store(slab_hash_tail(hash, first + tile), last);
    slab_writer_finish(writer, mine && stale);
    slab_chain_free(hash.pool, mine && stale ? behind : SLAB_NULL, SHARED != 0u);
}
