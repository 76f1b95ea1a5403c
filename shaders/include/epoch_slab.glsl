// Slabs of a pool that are retired inside a dispatch and freed by epochs: epoch.glsl says when.
//
// A slab that finds its limbo bag full is marked in a bitmap over the pool's slabs instead, and freed when the dispatch
// has ended: what was taken out of a structure may still be read, so nothing, and no link, is written to it.
#ifndef VKDS_EPOCH_SLAB_GLSL
#define VKDS_EPOCH_SLAB_GLSL

#include "epoch.glsl"
#include "slab_alloc.glsl"

// Retires the slab of each lane that says so: nothing leads to it any more, and no other lane retires it. Collective.
void epoch_retire_slab(SlabPool pool, EpochReclaimer r, inout Epoch e, uint slab, bool want) {
    bool kept = !epoch_retire(r, e, slab, want) && want;
    if (!kept) return;
    uint number = pool_number(slab);
    uvec2 marks = plain_load2(address_add(r.state, EPOCH_KEPT_AT));
    atomic_or(address_at(marks, number >> 5, 2u), 1u << (number & 31u));
    plain_store(address_add(r.state, EPOCH_IS_KEPT_AT), 1u);
}

// Leaves the epoch, and frees before that what the subgroup may (epoch_collect). cleared: all words of what is freed
// are made ~0 first, as users of slab lists and tables rely on. Collective.
void epoch_leave_slabs(SlabPool pool, EpochReclaimer r, inout Epoch e, bool cleared) {
    EpochBag bag = epoch_collect(r, e);
    while (epoch_more(bag)) {   // r.bag words at most
        uint slab;
        bool mine = epoch_next(bag, slab);
        if (cleared) {
            if (mine) {
                uvec2 address = slab_address(pool, slab);
                for (uint q = 0u; q < 8u; q++) coherent_store4(address_add(address, q * 16u), uvec4(~0u));
            }
            release_fence();
        }
        slab_free(pool, slab, mine);
    }
    epoch_leave(r, e);
}

#endif
