// Slab walk: reads lists of slabs from end to end, in a read-only phase.
#ifndef VKDS_SLAB_WALK_GLSL
#define VKDS_SLAB_WALK_GLSL

#include "slab_shared.glsl"

// A walk of a tile over all slabs of a list. All lanes of the tile walk the same list. slab_hash_walk begins one
// (slab_list_walk and graph_walk begin walks of their own types, made of these):
//
//     SlabWalk walk = slab_hash_walk(hash, bucket, bucket < hash.buckets);
//     while (subgroupAny(walk.more)) {
//         Node node = slab_walk_on(hash.pool, walk);
//         … for each slot m < SLAB_LANE_SLOTS in slab_live_mask(node): slab_lane_key(node, m), through
//         slab_hash_encode(hash, bucket, …), and slab_lane_value(node, m) …
//     }
//
// After the end of its walk a tile gets nodes without live slots.
struct SlabWalk {
    uvec2 slab;   // the slab that the next step reads
    uint place;   // its place in its group (slab_shared.glsl)
    bool more;    // whether there is one
    uint left;    // the slabs that the list may still have: at first all of the pool, and base slabs. ~0: it had more
};

// Begins a walk over the slabs from a reference on. If that is SLAB_NULL, there are none.
SlabWalk slab_walk(SlabPool pool, uint first) {
    SlabWalk walk = SlabWalk(uvec2(0u), SLAB_LINKED, first != SLAB_NULL, (pool.blocks << 10) + 1u);
    if (walk.more) walk.slab = slab_address(pool, first);
    return walk;
}

Node slab_walk_on(SlabPool pool, inout SlabWalk walk) {
    bool reads = walk.more;
    Node node = node_load(walk.slab, reads);
    uint next = slab_next(node);
    bool ends = slab_filters(walk.place) ? slab_next_is_shared(walk.place) : next == SLAB_NULL;
    walk.more = reads && !ends && walk.left != 0u;
    walk.left--;
    if (walk.more) slab_go_on(pool, next, walk.slab, walk.place);
    return node;
}

// Searches a list for the key of each lane that is BUSY: from the slab at address SLAB on, whose place is PLACE
// (slab_shared.glsl), for the key as it is STORED. FOUND must be false before, and VALUE 0. After it, `left` is ~0 if a
// list had no end. SEARCH of section IV-C of Ashkiani et al. (2018). It is a macro because a function
// changes the fastest kernels' code.
#define VKDS_SLAB_FIND(POOL, SLAB, PLACE, STORED, BUSY, FOUND, VALUE)               \
    uint place = PLACE;                                                             \
    uint left = (POOL.blocks << 10) + 2u;   /* slabs that may follow the first */   \
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
            BUSY = !FOUND && !slab_link_ends(next, place, STORED);                  \
            if (BUSY) {                                                             \
                slab_go_on(POOL, next, SLAB, place);                                \
                BUSY = left != 0u;                                                  \
                left--;                                                             \
            }                                                                       \
        }                                                                           \
    }

// Clears and frees all slabs of a list from a reference on, at most as many as the pool has. Set `shared_pool` if
// other structures may allocate the slabs while this kernel runs. Collective over the subgroup.
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
