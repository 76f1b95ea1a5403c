// Copies a table into another one with the same pool and hash seed, but new base slabs.
//
// Because buckets are ranges of hash values, the keys of a new bucket are in consecutive old ones. Each tile gathers
// one new bucket, densely and in list order, without atomics. If the pool is full, the tile counts its bucket as
// failed, and reads the list to its end. The same dispatch may then be repeated with a larger pool; it overwrites its
// own output. A list without an end (with more slabs than there can be) is counted, too.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_compact.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    SlabHash hash;       // the new table
    uvec2 from_base;     // the old table, as far as it differs
    uint from_buckets;
    uint from_mask;
    uint from_special_ones;
    uint from_special_zero;
    uvec2 ratio_down;    // old buckets / new buckets, for hash_first_bucket
    uvec2 ratio_up;      // the same ratio, for hash_last_bucket
    uvec2 failed;        // two counters: buckets that the pool had no slab for, and buckets whose list has no end
    uint first;          // the new buckets first … first+count-1
    uint count;
};

void main() {
    uint tile = invocation_index() / TILE;
    uint bucket = first + tile;
    SlabHash from = SlabHash(from_base, hash.pool, from_buckets, hash.seed, from_mask, from_special_ones,
                             from_special_zero);
    SlabCursor cursor = slab_cursor();
    bool mine = tile < count;
    uint source = 0u, last = 0u;
    if (mine) {
        source = hash_first_bucket(bucket, ratio_down);
        last = min(hash_last_bucket(bucket, ratio_up), from.buckets - 1u);
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
        uint mask = 0u;
        [[unroll]] for (uint m = 0u; m < SLAB_LANE_SLOTS; m++) {
            if (((live >> m) & 1u) != 0u) {
                K key = slab_hash_encode(from, source, slab_lane_key(node, m));
                if (slab_hash_bucket(hash, key) == bucket) mask |= 1u << m;
                K stored = slab_hash_encode(hash, bucket, key);
#ifdef VKDS_SLAB_KEYS
                if ((m & 1u) == 0u) node.pair[m >> 1].VKDS_KEY = stored;
                else node.pair[m >> 1].VKDS_VALUE = stored;
#else
                node.pair[m].VKDS_KEY = stored;
#endif
            }
        }
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
    uint counts = subgroupAdd(tile_lane() == 0u ? uint(failed_here) | uint(endless) << 16 : 0u);
    if (counts != 0u && subgroupElect()) {
        atomic_add(failed, counts & 0xffffu);
        atomic_add(address_add(failed, 4u), counts >> 16);
    }
}
