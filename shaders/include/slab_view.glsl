// Slab view: reads a slab while others change it.
//
// VKDS_SLAB_VIEW(slab, queue) returns the node that a tile reads. `queue` is the ballot of the lanes that the tile
// works for; if it is 0, the tile reads nothing. If the read was not consistent, the macro sets queue to 0, and the
// tile must read the slab again later.
#ifndef VKDS_SLAB_VIEW_GLSL
#define VKDS_SLAB_VIEW_GLSL

#include "slab_change.glsl"

#if !VKDS_WIDE

// Words may differ in age (slab_whole.glsl, slab_ready.glsl).
#define VKDS_SLAB_VIEW(SLAB, QUEUE) node_load_coherent(SLAB, QUEUE != 0u)

#elif VKDS_INT64_ATOMICS

layout(constant_id = VKDS_ID_SLAB_TORN) const uint SLAB_TORN = 1;

// Keys and values have 8 bytes each, and each is read whole. If a driver tears them in vector loads (SLAB_TORN), they
// are read one by one.
Node slab_view(uvec2 slab, bool enabled) {
    if (SLAB_TORN == 0u) return node_load_coherent(slab, enabled);
    Node n;
    [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++) {
        uvec2 at = address_add(slab, (j * TILE + tile_lane()) * 16u);
        n.pair[j] = uvec4(0u);
        if (enabled) n.pair[j] = uvec4(atomic_load2(at), atomic_load2(address_add(at, 8u)));
    }
    return n;
}
#define VKDS_SLAB_VIEW(SLAB, QUEUE) slab_view(SLAB, QUEUE != 0u)

#else

// The read is consistent if no lane has seen the slab latched, and all lanes have seen the same state before and after
// the slots.
Node slab_view(uvec2 slab, inout uint queue) {
    bool enabled = queue != 0u;
    uvec2 at = address_add(slab, SLAB_AUX_AT);
    uint before = 0u, behind = 0u;
    if (enabled) before = atomic_load(at);
    acquire_fence();
    Node n = node_load_coherent(slab, enabled);
    acquire_fence();
    if (enabled) behind = atomic_load(at);
    bool one = before == behind && before == tile_shuffle(before, 0u);
    if (tile_ballot(!one || (before & SLAB_OPEN) == 0u) != 0u) queue = 0u;
    return n;
}
#define VKDS_SLAB_VIEW(SLAB, QUEUE) slab_view(SLAB, QUEUE)

#endif

// A view may be older in one slot than in another. So copies of a key may have been in the list all the time, though
// the view has none: one was inserted behind where the view ended, and then the one before it was erased. That one has
// left a tombstone in the view. So where slab_moving(view) is true and the list ends, without the key, the end is read
// again by slab_ends: if it still is the end, the key is absent. A model is in test/models/slab_absent_test.go.

// Whether the key of a slot may have gone over to another one while the tile read the slab. (The auxiliary word or the
// reference to the next slab may be taken for a slot, which does no harm.) The same for all lanes of the tile.
bool slab_moving(Node n) {
#if VKDS_WIDE && !VKDS_INT64_ATOMICS
    return false;   // these views are of one moment
#else
    bool erased = false;
    [[unroll]] for (uint m = 0u; m < SLAB_LANE_SLOTS; m++) erased = erased || slab_lane_key(n, m) == SLAB_TOMBSTONE;
    return tile_ballot(erased) != 0u;
#endif
}

// Whether a list still ends where a view ended: at a free slot or, if `slot` is NODE_NONE, without a next slab. If
// there is one now, sets `next` to its reference. The address that it reads is made of the view: order by address
// (memory.glsl). For one lane.
bool slab_ends(uvec2 slab, uint slot, inout uint next) {
    uvec2 at = address_add(slab, slot == NODE_NONE ? SLAB_NEXT_AT : slot * SLAB_SLOT_BYTES);
    uint word = atomic_load(at);
    if (slot == NODE_NONE) next = word;
#if VKDS_WIDE
    // No key has two words of ~0. So if it reads them one after the other, the slot was free at one of these moments.
    else if (word == ~0u) word = atomic_load(address_add(at, 4u));
#endif
    return word == ~0u;
}

#endif
