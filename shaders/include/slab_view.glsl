// Slab view: reads a slab while others change it.
//
// VKDS_SLAB_VIEW(slab, queue) returns the node that a tile reads. `queue` is the ballot of the lanes that the tile
// works for; if it is 0, the tile reads nothing. If the read was not consistent, the macro sets queue to 0, and the
// tile must read the slab again later.
#ifndef VKDS_SLAB_VIEW_GLSL
#define VKDS_SLAB_VIEW_GLSL

#include "slab_change.glsl"
#include "slab_shared.glsl"

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
// the view has none: one was inserted behind where the view ended, and then the one before it was erased. So where the
// list ends, without the key, the end is read again by slab_ends: if it still is the end, the key is absent. A model is
// in test/models/slab_absent_test.go.

// Whether a key's list still ends where a view ended: at a free slot or, if `slot` is NODE_NONE, without a next slab.
// The address that it reads is made of the view: order by address (memory.glsl). For one lane.
bool slab_ends(uvec2 slab, uint slot, uint place, K key) {
    uint at = slot * SLAB_SLOT_BYTES;   // of NODE_NONE it is behind the slab
#if !VKDS_WIDE
    uint end = atomic_load(address_add(slab, min(at, SLAB_NEXT_AT)));
    return slot == NODE_NONE ? slab_link_ends(end, place, key) : end == SLAB_NULL;
#elif VKDS_INT64_ATOMICS
    uvec2 end = atomic_load2(address_add(slab, min(at, SLAB_AUX_AT)));
    return slot == NODE_NONE ? slab_link_ends(end.y, place, key) : end == uvec2(~0u);
#else
    return true;   // these views are of one moment
#endif
}

#endif
