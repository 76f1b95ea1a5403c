// Slab hash: a hash table of one slab list a bucket.
//
// After Ashkiani et al. (2018), sections III and IV. The first slab of each bucket stands in an array
// of base slabs, the others come from the slab allocator. Define VKDS_SLAB_KEYS for a set.
//
// No key is reserved, though the slab list takes two patterns (~0 and 0) for its slots. A table has at
// least 4 buckets, so a bucket never holds all keys: the two buckets that ~0 and 0 hash to hold their
// keys xor a mask, which the host chose so that neither pattern comes out of it.
#ifndef VKDS_SLAB_HASH_GLSL
#define VKDS_SLAB_HASH_GLSL

#include "slab_operation.glsl"
#include "slab_walk.glsl"
#include "constants.glsl"

layout(constant_id = VKDS_ID_SLAB_TAILS) const uint SLAB_TAILS = 1;

// A table as the host describes it (slabhash.Device in Go). Lay it into your push constants.
struct SlabHash {
    uvec2 base;      // address of the base slabs
    SlabPool pool;   // where the other slabs come from
    uint buckets;    // 4 or more
    uint seed;       // of the hash function
    uint mask;       // what keys are xored with, each word of them, in the two special buckets,
    uint special_ones;    // the one that key ~0 hashes to
    uint special_zero;    // and the one that key 0 hashes to
};

uint slab_hash_bucket(SlabHash h, K key) { return hash_reduce(hash_mix(key ^ h.seed), h.buckets); }

// The key as it stands in its bucket; its own inverse.
K slab_hash_encode(SlabHash h, uint bucket, K key) {
    return bucket == h.special_ones || bucket == h.special_zero ? key ^ h.mask : key;
}

uvec2 slab_hash_base(SlabHash h, uint bucket) { return address_at(h.base, bucket, SLAB_SHIFT); }

// The word that refers to a slab near the end of a bucket's list, SLAB_NULL where none is known: the words stand behind
// the base slabs. Slots fill in the order of the list and are never free again while kernels run, so a reference that
// was right once stays right: no slab before that one has a free slot. What moves slots makes the words anew.
uvec2 slab_hash_tail(SlabHash h, uint bucket) {
    return address_at(address_at(h.base, h.buckets, SLAB_SHIFT), bucket, 2u);
}

// A walk over all slabs of a bucket (slab_walk.glsl), in a read-only phase of the table.
SlabWalk slab_hash_walk(SlabHash h, uint bucket, bool enabled) {
    return SlabWalk(slab_hash_base(h, bucket), enabled, (h.pool.blocks << 10) + 1u);
}

// Finds each enabled lane's key: whether it is there, and its value. For read-only phases of the table.
// Collective over the subgroup, SEARCH of section IV-C.
bool slab_hash_find(SlabHash h, K key, bool enabled, out V value) {
    uint bucket = slab_hash_bucket(h, key);
    K stored = slab_hash_encode(h, bucket, key);
    uvec2 slab = slab_hash_base(h, bucket);
    bool busy = enabled;
    bool found = false;
    value = V(0u);
    VKDS_SLAB_FIND(h.pool, slab, stored, busy, found, value)
    return found;
}

// Does each enabled lane's operation, of any kind of operation.glsl, concurrently with whatever other
// invocations do to the table. Returns its STATUS_…; STATUS_PENDING if the pool was full or the budget (of
// slab visits by the tile) was used up, and then the operation has had no effect and may be tried again,
// except that OP_DELETE_ALL has deleted and counted in `value` some of its pairs and goes on from there.
// `value` is what an insertion brings; it becomes the value that OP_FIND finds, and the number of pairs
// for OP_COUNT_ALL and OP_DELETE_ALL (which starts at the number in it: pass 0). Collective over the subgroup.
uint slab_hash_apply(SlabHash h, inout SlabCursor cursor, uint kind, K key, inout V value, bool enabled, uint budget) {
    uint bucket = slab_hash_bucket(h, key);
    SlabOperation o =
        slab_operation(kind, slab_hash_encode(h, bucket, key), value, slab_hash_base(h, bucket), enabled);
    uvec2 end = SLAB_TAILS != 0u ? slab_hash_tail(h, bucket) : uvec2(0u);
    VKDS_SLAB_OPERATE(h.pool, o, cursor, kind, enabled, budget, end)
    value = o.value;
    return o.status;
}

// Erases a key in all slots of a slab in which the tile has seen it. Returns how many it has erased; `all`: as many as
// it has seen, since nobody was faster and their values were there. Collective over the subgroup.
uint slab_erase_all(uvec2 slab, Node node, K key, bool enabled, out bool all) {
    uint seen = enabled ? slab_lane_mask(node, key) : 0u, erased = 0u, count = 0u;
    [[unroll]] for (uint m = 0u; m < SLAB_LANE_SLOTS; m++) {
        bool mine = ((seen >> m) & 1u) != 0u;
#ifdef VKDS_SLAB_LATCHED
        // Lanes take turns at the slab's latch.
        for (uint lane = 0u; lane < TILE; lane++)
            if (mine && lane == tile_lane() && slab_erase(slab, slab_lane_slot(m), key)) erased |= 1u << m;
#else
        if (mine && slab_erase(slab, slab_lane_slot(m), key)) erased |= 1u << m;
#endif
        count += uint(bitCount(tile_ballot(((erased >> m) & 1u) != 0u)));
    }
    all = tile_ballot(erased != seen) == 0u;
    return count;
}

// Does each enabled lane's OP_DELETE_ALL as slab_hash_apply does it, but visits a slab once, not once for each pair of
// the key. `deleted` is the number of pairs that earlier calls deleted, whose operation was left pending, and becomes
// the number of all: pass 0 at first. Collective over the subgroup.
uint slab_hash_delete_all(SlabHash h, K key, inout V deleted, bool enabled, uint budget) {
    uint bucket = slab_hash_bucket(h, key);
    K stored = slab_hash_encode(h, bucket, key);
    uvec2 slab = slab_hash_base(h, bucket);
    bool busy = enabled;
    for (uint visits = 0u; subgroupAny(busy) && visits < budget; visits++) {
        uint queue = tile_ballot(busy);
        uint source = queue == 0u ? 0u : uint(findLSB(queue));
        K target = tile_shuffle(stored, source);
        uvec2 here = tile_shuffle(slab, source);
        Node node = VKDS_SLAB_VIEW(here, queue);
        bool all;
        uint erased = slab_erase_all(here, node, target, queue != 0u, all);
        bool last = slab_find(node, SLAB_EMPTY) != NODE_NONE;
        uint next = slab_next(node);
        if (queue != 0u && tile_lane() == source) {
            VKDS_INCREASE(deleted, erased);
            // At the end it looks again until it sees none: others may have inserted some while it erased those.
            if (last || next == SLAB_NULL) busy = erased != 0u || !all;
            else if (all) slab = slab_address(h.pool, next);
        }
    }
    return busy ? STATUS_PENDING : deleted != V(0u) ? STATUS_DELETED : STATUS_ABSENT;
}

#endif
