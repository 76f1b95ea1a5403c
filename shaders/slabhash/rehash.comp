// Copies a table into another one with the same pool and hash seed, but new base slabs.
//
// Because buckets are ranges of hash values, the keys of a new bucket are in consecutive old ones. Each tile gathers
// one new bucket, densely and in list order, without atomics. If the pool is full, the tile counts its bucket as
// failed, and reads the list to its end. The same dispatch may then be repeated with a larger pool; it overwrites its
// own output. A list without an end (with more slabs than there can be) is counted, too.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "rehash.glsl"
#include "invocation.glsl"

void main() {
    uint tile = invocation_index() / TILE;
    uint bucket = first + tile;
    SlabHash from = rehash_from();
    SlabCursor cursor = slab_cursor();
    bool mine = tile < count;
    uint source = 0u, last = 0u;
    if (mine) {
        uvec2 sources = rehash_sources(bucket);
        source = sources.x;
        last = sources.y;
    }
    SlabWalk walk = slab_hash_walk(from, source, mine);
    SlabWriter writer = SlabWriter(slab_hash_base(hash, bucket), 0u);
    uint last_slab = SLAB_NULL;   // the writer's slab; SLAB_NULL for the base slab
    bool failed_here = false, endless = false;
#ifdef VKDS_TRACE
    slab_writer_mask = slab_hash_encode(hash, bucket, K(0u));
#endif
    while (subgroupAny(walk.more)) {
        bool reads = walk.more;
        Node node = slab_walk_on(from.pool, walk);
        uint live = reads && !failed_here ? slab_live_mask(node) : 0u;
        uint mask = rehash_take(from, source, bucket, live, node);
        SlabRanks ranks = slab_ranks(mask);
        bool crosses = slab_writer_crosses(writer, ranks);
        uint behind = SLAB_NULL;
        if (crosses) behind = plain_load(address_add(writer.slab, SLAB_NEXT_AT));
        bool extend = crosses && behind == SLAB_NULL && tile_lane() == 0u;
        if (subgroupAny(extend)) {
            uint fresh = slab_allocate(hash.pool, cursor, extend);
            if (extend && fresh != SLAB_NULL) {
                plain_store(address_add(writer.slab, SLAB_NEXT_AT), fresh);
                VKDS_EVENT(true, TRACE_LINK, trace_line(writer.slab), trace_line(slab_address(hash.pool, fresh)))
            }
            fresh = tile_shuffle(fresh, 0u);
            if (crosses && behind == SLAB_NULL) behind = fresh;
        }
        if (crosses && behind == SLAB_NULL) {
            failed_here = true;
        } else {
            uvec2 beyond = uvec2(0u);
            if (crosses) {
                beyond = slab_address(hash.pool, behind);
                last_slab = behind;
            }
            slab_writer_append(writer, node, mask, ranks, beyond);
        }
        bool ends = reads && !walk.more;
        endless = endless || ends && walk.left == ~0u;
        if (ends && !failed_here && source < last) {
            source++;
            walk = slab_hash_walk(from, source, true);
        }
    }
    if (mine && tile_lane() == 0u) {
        plain_store(address_add(writer.slab, SLAB_AUX_AT), slab_aux(writer.filled));
        plain_store(slab_hash_tail(hash, bucket), last_slab);
    }
    rehash_count(failed_here, endless);
}
