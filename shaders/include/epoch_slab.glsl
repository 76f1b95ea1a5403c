// Epoch slabs: retires slabs of a pool inside a dispatch, and frees them by the epochs of epoch.glsl.
//
// If a limbo bag is full, the slab is marked in a bitmap over the pool's slabs instead, and freed after the dispatch.
// A linked list of such slabs is not possible: others may still read them, so nothing may be written to them.
#ifndef VKDS_EPOCH_SLAB_GLSL
#define VKDS_EPOCH_SLAB_GLSL

#include "epoch.glsl"
#include "slab_alloc.glsl"

// At EPOCH_KEPT_AT are two addresses: first of an array with a word for each 2^15 slabs, not 0 if any of them is
// marked; then of the marks, one bit per slab. Slabs have their numbers in the pool (pool_number).
const uint EPOCH_KEPT_SHIFT = 15u;

// Retires the slab of each lane with `want`. No reference in the structure leads to it any more, and no other lane
// retires it. Collective.
void epoch_retire_slab(SlabPool pool, EpochReclaimer r, inout Epoch e, uint slab, bool want) {
    bool put = epoch_retire(r, e, slab, want);
    if (put || !want) return;
    uint number = pool_number(slab);
    uvec4 kept = plain_load4(address_add(r.state, EPOCH_KEPT_AT));
    plain_store(address_at(kept.xy, number >> EPOCH_KEPT_SHIFT, 2u), 1u);
    atomic_or(address_at(kept.zw, number >> 5, 2u), 1u << (number & 31u));
}

// Sets all words of the lane's slab to ~0, which slab lists and tables expect of a slab that they allocate. A
// release_fence of all lanes must follow.
void epoch_clear_slab(SlabPool pool, uint slab, bool want) {
    if (!want) return;
    uvec2 address = slab_address(pool, slab);
    for (uint q = 0u; q < 8u; q++) coherent_store4(address_add(address, q * 16u), uvec4(~0u));
}

// Frees the slabs that epoch_collect returns, and leaves the epoch. If `cleared`, all words of these slabs are set to
// ~0 first. Collective.
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
