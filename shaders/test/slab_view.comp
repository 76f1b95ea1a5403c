// For test/shader: each tile calls the collective functions of slab.glsl for a slab.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 slabs;    // one slab per tile
    uvec2 keys;     // two keys per tile
    uvec2 views;    // eight numbers per invocation. For the first key: slot, value, count, and the next slab. For the
                    // search for both: slot, key, value, and the first free slot
    uvec2 slots;    // 32 times four numbers per invocation, one for each slot: slot + 1, key, value, live (0 or 1)
    uvec2 dense;    // 32 pairs of numbers per tile: the live slots, in order
    uint count;     // the number of tiles
};

K number(uint a) {
    K n = K(0u);
    VKDS_INCREASE(n, a);
    return n;
}

void four(uvec2 at, uint i, K a, K b, K c, K d) {
    VKDS_STORE_AT(at, 4u * i, a);
    VKDS_STORE_AT(at, 4u * i + 1u, b);
    VKDS_STORE_AT(at, 4u * i + 2u, c);
    VKDS_STORE_AT(at, 4u * i + 3u, d);
}

void main() {
    uint i = invocation_index();
    uint tile = i / TILE;
    bool there = tile < count;
    K key = K(0u), other = K(0u);
    if (there) {
        key = VKDS_LOAD_AT(keys, 2u * tile);
        other = VKDS_LOAD_AT(keys, 2u * tile + 1u);
    }
    Node n = node_load(address_at(slabs, tile, SLAB_SHIFT), there);
    V value;
    uint slot = slab_find(n, key, value);
    if (slab_find(n, key) != slot) slot = ~1u;   // the two disagree
    SlabHit hit = slab_search(n, key, other);
    uint occurrences = slab_count(n, key);
    uint next = slab_next(n);
    uint empty = slab_find(n, SLAB_EMPTY);
    uint live = slab_live_mask(n);
    if (there) {
        four(views, 2u * i, number(slot), value, number(occurrences), number(next));
        four(views, 2u * i + 1u, number(hit.slot), hit.key, hit.value, number(empty));
        for (uint m = 0u; m < SLAB_LANE_SLOTS; m++)
            if (((slab_data_mask() >> m) & 1u) != 0u)
                four(slots, 32u * i + m, number(slab_lane_slot(m) + 1u), slab_lane_key(n, m), slab_lane_value(n, m),
                     number((live >> m) & 1u));
    }
    uint total = 0u;
    for (uint j = 0u; j < NODE_QUADS; j++) {
        uint rank = slab_step_rank(live, j, total);
        for (uint s = 0u; s < SLAB_STEP_SLOTS; s++) {
            uint m = j * SLAB_STEP_SLOTS + s;
            if (((live >> m) & 1u) != 0u) {
                VKDS_STORE_AT(dense, 2u * (32u * tile + rank), slab_lane_key(n, m));
                VKDS_STORE_AT(dense, 2u * (32u * tile + rank) + 1u, slab_lane_value(n, m));
                rank++;
            }
        }
    }
}
