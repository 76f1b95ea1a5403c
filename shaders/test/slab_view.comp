// For test/shader: a tile a slab, and what the collective functions of slab_list.glsl see in it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_list.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 slabs;    // a slab a tile
    uvec2 keys;     // a key a tile
    uvec2 views;    // two quads an invocation: place found, value, count, next; first empty place, 0, 0, 0
    uvec2 slots;    // 32 quads an invocation, one for each slot it holds: place + 1, key, value, live (0 or 1)
    uvec2 dense;    // 32 pairs a tile: the live slots, in order
    uint count;     // tiles
};

void main() {
    uint i = invocation_index();
    uint tile = i / TILE;
    bool there = tile < count;
    uint key = there ? plain_load(address_at(keys, tile, 2u)) : 0u;
    Node n = node_load(address_at(slabs, tile, SLAB_SHIFT), there);
    uint value = 0u;
    uint slot = slab_find(n, key);
#ifndef VKDS_SLAB_KEYS
    uint again = slab_find(n, key, value);
    if (again != slot) slot = ~1u;   // the two disagree
#endif
    uint occurrences = slab_count(n, key);
    uint next = slab_next(n);
    uint empty = slab_find(n, SLAB_EMPTY);
    uint live = slab_live_mask(n);
    if (there) {
        plain_store4(address_at(views, 2u * i, 4u), uvec4(slot, value, occurrences, next));
        plain_store4(address_at(views, 2u * i + 1u, 4u), uvec4(empty, 0u, 0u, 0u));
        for (uint m = 0u; m < SLAB_LANE_SLOTS; m++)
            if (((slab_data_mask() >> m) & 1u) != 0u)
                plain_store4(address_at(slots, 32u * i + m, 4u),
                             uvec4(slab_lane_slot(m) + 1u, slab_lane_key(n, m), slab_lane_value(n, m), (live >> m) & 1u));
    }
    uint total = 0u;
    for (uint j = 0u; j < NODE_QUADS; j++) {
        uint rank = slab_step_rank(live, j, total);
        for (uint s = 0u; s < SLAB_STEP_SLOTS; s++) {
            uint m = j * SLAB_STEP_SLOTS + s;
            if (((live >> m) & 1u) != 0u) {
                plain_store2(address_at(dense, 32u * tile + rank, 3u), uvec2(slab_lane_key(n, m), slab_lane_value(n, m)));
                rank++;
            }
        }
    }
}
