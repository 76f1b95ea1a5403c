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

// Finds the key of each lane that is busy, as it is stored, in the lane's list from a slab on: whether it is there, and
// its value. For read-only phases. SEARCH of section IV-C of Ashkiani et al. (2018). Collective over the subgroup.
bool slab_walk_find(SlabPool pool, uvec2 slab, uint stored, bool busy, out uint value) {
    bool found = false;
    value = 0u;
    uint left = pool.blocks << 10;   // slabs that there may be behind the first
    while (subgroupAny(busy)) {
        uint queue = tile_ballot(busy);
        uint source = queue == 0u ? 0u : uint(findLSB(queue));
        uint k = tile_shuffle(stored, source);
        Node node = node_load(tile_shuffle(slab, source), queue != 0u);
        SlabHit hit = slab_search(node, k, k);
        uint next = slab_next(node);
        if (busy && tile_lane() == source) {
            found = hit.slot != NODE_NONE;
            if (found) value = hit.value;
            busy = !found && next != SLAB_NULL;
            if (busy) {
                slab = slab_address(pool, next);
                busy = left != 0u;
                left--;
            }
        }
    }
    return found;
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
