// Slab walk: lists of slabs from one end to the other, while nobody changes them.
#ifndef VKDS_SLAB_WALK_GLSL
#define VKDS_SLAB_WALK_GLSL

#include "slab.glsl"

// A walk of a tile over all slabs of a list; its lanes walk the same one. slab_hash_walk and slab_list_walk begin one:
//
//     SlabWalk walk = slab_hash_walk(hash, bucket, bucket < hash.buckets);
//     while (subgroupAny(walk.more)) {
//         Node node = slab_walk_on(hash.pool, walk);
//         … for each slot m < SLAB_LANE_SLOTS in slab_live_mask(node): slab_lane_key(node, m), through
//         slab_hash_encode(hash, bucket, …), and slab_lane_value(node, m) …
//     }
//
// A tile whose walk has ended gets nodes with no slot live.
struct SlabWalk {
    uvec2 slab;   // the slab that the next step reads
    bool more;    // whether there is one
    uint left;    // how many more slabs a list may have: the pool's, and one of a table. ~0: it had more
};

// Over the slabs from a reference on, none if that is SLAB_NULL.
SlabWalk slab_walk(SlabPool pool, uint first) {
    SlabWalk walk = SlabWalk(uvec2(0u), first != SLAB_NULL, (pool.blocks << 10) + 1u);
    if (walk.more) walk.slab = slab_address(pool, first);
    return walk;
}

Node slab_walk_on(SlabPool pool, inout SlabWalk walk) {
    bool reads = walk.more;
    Node node = node_load(walk.slab, reads);
    uint next = slab_next(node);
    walk.more = reads && next != SLAB_NULL && walk.left != 0u;
    walk.left--;
    if (walk.more) walk.slab = slab_address(pool, next);
    return node;
}

// What looks for a key in lists, SEARCH of section IV-C of Ashkiani et al. (2018), for each lane that is BUSY: from the
// slab on where it begins, for the key as it is STORED. FOUND is false before, and VALUE 0. It is text within
// slab_hash_find and slab_list_find, and no function of its own, so that the fastest kernels are as they were measured.
// Behind it `left` is ~0 where a list had no end.
#define VKDS_SLAB_FIND(POOL, SLAB, STORED, BUSY, FOUND, VALUE)                      \
    uint left = POOL.blocks << 10;   /* slabs that there may be behind the first */ \
    while (subgroupAny(BUSY)) {                                                     \
        uint queue = tile_ballot(BUSY);                                             \
        uint source = queue == 0u ? 0u : uint(findLSB(queue));                      \
        K k = tile_shuffle(STORED, source);                                         \
        Node node = node_load(tile_shuffle(SLAB, source), queue != 0u);             \
        SlabHit hit = slab_search(node, k, k);                                      \
        uint next = slab_next(node);                                                \
        if (BUSY && tile_lane() == source) {                                        \
            FOUND = hit.slot != NODE_NONE;                                          \
            if (FOUND) VALUE = hit.value;                                           \
            BUSY = !FOUND && next != SLAB_NULL;                                     \
            if (BUSY) {                                                             \
                SLAB = slab_address(POOL, next);                                    \
                BUSY = left != 0u;                                                  \
                left--;                                                             \
            }                                                                       \
        }                                                                           \
    }

// Clears and frees all slabs from a reference on, which are the pool's at most. Where the pool is shared, they may be
// another structure's from then on, which runs concurrently with this kernel. Collective over the subgroup.
void slab_chain_free(SlabPool pool, uint from, bool shared_pool) {
    uint next = from;
    for (uint left = pool.blocks << 10; subgroupAny(next != SLAB_NULL) && left != 0u; left--) {
        uint here = next;
        bool frees = here != SLAB_NULL;
        uvec2 slab = uvec2(0u);
        if (frees) slab = slab_address(pool, here);
        Node node = node_load(slab, frees);
        next = slab_next(node);
        if (!frees) next = SLAB_NULL;
        if (shared_pool) {
            node_clear_coherent(slab, frees);
            release_fence();
        } else {
            node_clear(slab, frees);
        }
        slab_free(pool, here, frees && tile_lane() == 0u);
    }
}

#endif
