// Slab hash: a hash table with one slab list per bucket.
//
// After Ashkiani et al. (2018), sections III and IV. The first slabs of all buckets are in an array of
// base slabs; further slabs come from the slab allocator. Define VKDS_SLAB_KEYS for a set. In a table that is to be
// full, 16 buckets are a group that shares slabs (slab_shared.glsl).
//
// Every key can be inserted, although a slab list gives two patterns (~0 and 0) in its slots another
// meaning. A table has at least 4 buckets, so no bucket holds all keys. The two buckets that ~0 and 0
// hash to store their keys xor a mask, which the host chooses so that neither pattern results.
#ifndef VKDS_SLAB_HASH_GLSL
#define VKDS_SLAB_HASH_GLSL

#include "slab_operation.glsl"
#include "slab_walk.glsl"
#include "constants.glsl"

layout(constant_id = VKDS_ID_SLAB_TAILS) const uint SLAB_TAILS = 1;

// A table as the host describes it (slabhash.Description in Go). Put it into your push constants.
struct SlabHash {
    uvec2 base;      // address of the base slabs
    SlabPool pool;   // the pool of the other slabs
    uint buckets;    // 4 or more; of a table that shares slabs 4 groups or more, and whole ones
    uint seed;       // of the hash function
    uint mask;       // in the two special buckets, each word of a key is xored with it
    uint special_ones;    // the special bucket that key ~0 hashes to, or its group
    uint special_zero;    // the special bucket that key 0 hashes to, or its group
};

uint slab_hash_bucket(SlabHash h, K key) { return hash_reduce(hash_mix(key ^ h.seed), h.buckets); }

// The list of a bucket: its own number, or that of its group. One chain of slabs from the pool belongs to each list.
uint slab_hash_list(uint bucket) { return SLAB_SHARED != 0u ? bucket >> SLAB_GROUP_SHIFT : bucket; }

// The key as it is stored in its bucket. The function is its own inverse.
K slab_hash_encode(SlabHash h, uint bucket, K key) {
    uint list = slab_hash_list(bucket);
    return list == h.special_ones || list == h.special_zero ? key ^ h.mask : key;
}

// The place of a bucket's first slab in its group (slab_shared.glsl).
uint slab_hash_place(uint bucket) { return SLAB_SHARED != 0u ? bucket & (SLAB_GROUP - 1u) : SLAB_LINKED; }

// The number of base slabs before the group of a bucket, or before the bucket.
uint slab_hash_before(uint bucket) {
    return SLAB_SHARED != 0u ? (bucket >> SLAB_GROUP_SHIFT) * SLAB_GROUP_SLABS : bucket;
}

// The address of a bucket's first slab.
uvec2 slab_hash_base(SlabHash h, uint bucket) {
    uint place = SLAB_SHARED != 0u ? slab_hash_place(bucket) : 0u;
    return address_at(h.base, slab_hash_before(bucket) + place, SLAB_SHIFT);
}

// The address of a list's tail word: a reference to a slab near the end of its chain, or SLAB_NULL if none is known.
// The words follow the base slabs. No slab of the chain before the one referred to has a free slot. That stays true
// while kernels run, because slots fill in list order and are never free again. Kernels that move slots rewrite them.
uvec2 slab_hash_tail(SlabHash h, uint list) {
    return address_at(address_at(h.base, slab_hash_before(h.buckets), SLAB_SHIFT), list, 2u);
}

// A walk over all slabs of a bucket (slab_walk.glsl), in a read-only phase of the table. A slab that buckets share
// belongs to the first of them, so walks over all buckets meet each slab once.
SlabWalk slab_hash_walk(SlabHash h, uint bucket, bool enabled) {
    return SlabWalk(slab_hash_base(h, bucket), slab_hash_place(bucket), enabled, (h.pool.blocks << 10) + 3u);
}

// Finds each enabled lane's key: returns whether the table has it, and sets value to its value or 0. For
// read-only phases of the table. Collective over the subgroup. SEARCH of section IV-C.
bool slab_hash_find(SlabHash h, K key, bool enabled, out V value) {
    uint bucket = slab_hash_bucket(h, key);
    K stored = slab_hash_encode(h, bucket, key);
    uvec2 slab = slab_hash_base(h, bucket);
    bool busy = enabled;
    bool found = false;
    value = V(0u);
    VKDS_SLAB_FIND(h.pool, slab, slab_hash_place(bucket), stored, busy, found, value)
    return found;
}

// Does each enabled lane's operation, concurrently with any operations of other invocations on the table.
//
// `kind` is any OP_… of operation.glsl without those of ordered dictionaries. `value` is the value that an
// insertion inserts or combines with the old one. OP_FIND sets it to the value found, and OP_COUNT_ALL to the
// number of pairs. OP_DELETE_ALL adds the number of deleted pairs to it: pass 0. `budget` is the number of slabs
// that a tile may visit.
//
// Returns STATUS_…: STATUS_PENDING if the pool was full or the budget was used up. The operation then had no
// effect and may be tried again. The exception is OP_DELETE_ALL, which may have deleted some pairs: call it
// again with the same `value`. Collective over the subgroup.
uint slab_hash_apply(SlabHash h, inout SlabCursor cursor, uint kind, K key, inout V value, bool enabled, uint budget) {
    uint bucket = slab_hash_bucket(h, key);
    SlabOperation o = slab_operation(kind, slab_hash_encode(h, bucket, key), value, slab_hash_base(h, bucket),
                                     slab_hash_place(bucket), enabled);
    uvec2 end = SLAB_TAILS != 0u ? slab_hash_tail(h, slab_hash_list(bucket)) : uvec2(0u);
    VKDS_SLAB_OPERATE(h.pool, o, cursor, kind, enabled, budget, end)
    value = o.value;
    return o.status;
}

// Erases a key in all slots of a slab in which the tile has seen it. Returns the number of slots erased. Sets `all` if
// it erased all of them: no other invocation was faster, and all their values were there. Collective over the subgroup.
uint slab_erase_all(uvec2 slab, Node node, K key, bool enabled, out bool all) {
    uint seen = enabled ? slab_lane_mask(node, key) : 0u, erased = 0u, count = 0u;
    [[unroll]] for (uint m = 0u; m < SLAB_LANE_SLOTS; m++) {
        bool mine = ((seen >> m) & 1u) != 0u;
#ifdef VKDS_SLAB_LATCHED
        // One lane after the other, because each takes the slab's latch.
        for (uint lane = 0u; lane < TILE; lane++)
            if (mine && lane == tile_lane() && slab_erase(slab, slab_lane_slot(m), key)) erased |= 1u << m;
#else
        if (mine && slab_erase(slab, slab_lane_slot(m), key)) erased |= 1u << m;
#endif
        VKDS_EVENT_PAIR(((erased >> m) & 1u) != 0u, TRACE_ERASE, trace_line(slab), slab_lane_slot(m), key,
                        slab_lane_value(node, m))
        count += uint(bitCount(tile_ballot(((erased >> m) & 1u) != 0u)));
    }
    all = tile_ballot(erased != seen) == 0u;
    return count;
}

// Does each enabled lane's OP_DELETE_ALL as slab_hash_apply does, but with one visit for all pairs of the key in a slab
// instead of one visit for each pair. The number of deleted pairs is added to `deleted`: pass 0 at first, and the same
// `deleted` again if the operation is STATUS_PENDING. Collective over the subgroup.
uint slab_hash_delete_all(SlabHash h, K key, inout V deleted, bool enabled, uint budget) {
    uint bucket = slab_hash_bucket(h, key);
    K stored = slab_hash_encode(h, bucket, key);
    uvec2 slab = slab_hash_base(h, bucket);
    uint place = slab_hash_place(bucket);
    bool busy = enabled;
    for (uint visits = 0u; subgroupAny(busy) && visits < budget; visits++) {
        uint queue = tile_ballot(busy);
        uint source = queue == 0u ? 0u : uint(findLSB(queue));
        K target = tile_shuffle(stored, source);
        uvec2 here = tile_shuffle(slab, source);
        Node node = VKDS_SLAB_VIEW(here, queue);
        bool all;
        uint erased = slab_erase_all(here, node, target, queue != 0u, all);
        uint free = slab_find(node, SLAB_EMPTY), next = slab_next(node);
        if (queue != 0u && tile_lane() == source) {
            VKDS_EVENT(true, TRACE_VISIT, trace_line(here), 0u)
            VKDS_INCREASE(deleted, erased);
            // At the end it reads the last slab until it has none: others may insert the key meanwhile.
            if (free != NODE_NONE || slab_link_ends(next, place, stored))
                busy = erased != 0u || !all || !slab_ends(here, free, place, stored);
            else if (all) slab_go_on(h.pool, next, slab, place);
        }
    }
    return busy ? STATUS_PENDING : deleted != V(0u) ? STATUS_DELETED : STATUS_ABSENT;
}

#endif
