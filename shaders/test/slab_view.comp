// For test/shader: a tile a slab, and what the collective functions of slab.glsl see in it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 slabs;    // a slab a tile
    uvec2 keys;     // two keys a tile
    uvec2 views;    // two quads an invocation: of the first key: place found, value, count, and the next slab; of the
                    // search for both: place, key, value, and the first free place
    uvec2 slots;    // 32 quads an invocation, one for each slot it holds: place + 1, key, value, live (0 or 1)
    uvec2 dense;    // 32 pairs a tile: the live slots, in order
    uint count;     // tiles
};

void main() {
    uint i = invocation_index();
    uint tile = i / TILE;
    bool there = tile < count;
    uvec2 pair = there ? plain_load2(address_at(keys, tile, 3u)) : uvec2(0u);
    uint key = pair.x;
    Node n = node_load(address_at(slabs, tile, SLAB_SHIFT), there);
    uint value;
    uint slot = slab_find(n, key, value);
    if (slab_find(n, key) != slot) slot = ~1u;   // the two disagree
    SlabHit hit = slab_search(n, key, pair.y);
    uint occurrences = slab_count(n, key);
    uint next = slab_next(n);
    uint empty = slab_find(n, SLAB_EMPTY);
    uint live = slab_live_mask(n);
    if (there) {
        plain_store4(address_at(views, 2u * i, 4u), uvec4(slot, value, occurrences, next));
        plain_store4(address_at(views, 2u * i + 1u, 4u), uvec4(hit.slot, hit.key, hit.value, empty));
        for (uint m = 0u; m < SLAB_LANE_SLOTS; m++)
            if (((slab_data_mask() >> m) & 1u) != 0u)
                plain_store4(address_at(slots, 32u * i + m, 4u),
                             uvec4(slab_lane_slot(m) + 1u, slab_lane_key(n, m), slab_lane_value(n, m),
                                   (live >> m) & 1u));
    }
    uint total = 0u;
    for (uint j = 0u; j < NODE_QUADS; j++) {
        uint rank = slab_step_rank(live, j, total);
        for (uint s = 0u; s < SLAB_STEP_SLOTS; s++) {
            uint m = j * SLAB_STEP_SLOTS + s;
            if (((live >> m) & 1u) != 0u) {
                plain_store2(address_at(dense, 32u * tile + rank, 3u),
                             uvec2(slab_lane_key(n, m), slab_lane_value(n, m)));
                rank++;
            }
        }
    }
}
