// Slabs of a pool that are retired inside a dispatch and freed by epochs: epoch.glsl says when.
//
// A slab that finds its limbo bag full is marked in a bitmap over the pool's slabs instead, and freed when the dispatch
// has ended: what was taken out of a structure may still be read, so nothing is written to it, and no link either.
#ifndef VKDS_EPOCH_SLAB_GLSL
#define VKDS_EPOCH_SLAB_GLSL

#include "epoch.glsl"
#include "slab_alloc.glsl"

// At EPOCH_KEPT_AT are two addresses: of a word for each 2^15 slabs, which says whether any of these is marked, and of
// the marks, a bit a slab. Both go by the slabs' numbers (pool_number).
const uint EPOCH_KEPT_SHIFT = 15u;

// Retires the slab of each lane that says so: nothing leads to it any more, and no other lane retires it. Collective.
void epoch_retire_slab(SlabPool pool, EpochReclaimer r, inout Epoch e, uint slab, bool want) {
    bool put = epoch_retire(r, e, slab, want);
    if (put || !want) return;
    uint number = pool_number(slab);
    uvec4 kept = plain_load4(address_add(r.state, EPOCH_KEPT_AT));
    plain_store(address_at(kept.xy, number >> EPOCH_KEPT_SHIFT, 2u), 1u);
    atomic_or(address_at(kept.zw, number >> 5, 2u), 1u << (number & 31u));
}

// Makes all words of a lane's slab ~0, as users of slab lists and tables rely on for free ones. A release_fence by all
// lanes comes behind it.
void epoch_clear_slab(SlabPool pool, uint slab, bool want) {
    if (!want) return;
    uvec2 address = slab_address(pool, slab);
    for (uint q = 0u; q < 8u; q++) coherent_store4(address_add(address, q * 16u), uvec4(~0u));
}

// Leaves the epoch, and before that frees what the subgroup may (epoch_collect). cleared: all words of what is freed are
// made ~0 first. Collective.
void epoch_leave_slabs(SlabPool pool, EpochReclaimer r, inout Epoch e, bool cleared) {
    EpochBag bag = epoch_collect(r, e);
    while (epoch_more(bag)) {   // r.bag words at most
        uint slab;
        bool mine = epoch_next(bag, slab);
        if (cleared) {
            epoch_clear_slab(pool, slab, mine);
            release_fence();
        }
        slab_free(pool, slab, mine);
    }
    epoch_leave(r, e);
}

#endif
