// For test/shader: slab_list.glsl. An invocation an operation or a lookup, or a tile a list.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_list.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint FUNCTION = 0;   // 0 apply, 1 find, 2 walk, 3 clear

layout(push_constant, std430) uniform Push {
    SlabPool pool;
    uvec2 to;           // the lists
    uvec2 operations;   // a quad an invocation: kind, key, value, list
    uvec2 outcomes;     // a pair an invocation: apply: status, in and out, and value; find: 1 if it is there, and value
    uvec2 pairs;        // walk: three words a pair: list, key, value
    uvec2 counter;      // how many
    uint count;         // operations, lookups, or lists
    uint room;          // pairs
    uint visits;
};

void apply(uint i, bool there) {
    uvec4 o = uvec4(0u);
    uvec2 before = uvec2(STATUS_INSERTED, 0u);
    if (there) {
        o = plain_load4(address_at(operations, i, 4u));
        before = plain_load2(address_at(outcomes, i, 3u));
    }
    // What a dispatch before this one has done of OP_DELETE_ALL goes on.
    bool todo = there && before.x == STATUS_PENDING;
    uint value = o.x == OP_DELETE_ALL ? before.y : o.z;
    SlabCursor cursor = slab_cursor();
    uvec2 list = address_at(to, o.w, SLAB_LIST_SHIFT);
    uint status = slab_list_apply(pool, cursor, list, o.x, o.y, value, todo, visits);
    if (todo) plain_store2(address_at(outcomes, i, 3u), uvec2(status, value));
}

void find(uint i, bool there) {
    uvec4 o = uvec4(0u);
    if (there) o = plain_load4(address_at(operations, i, 4u));
    uint value;
    bool found = slab_list_find(pool, address_at(to, o.w, SLAB_LIST_SHIFT), o.y, there, value);
    if (there) plain_store2(address_at(outcomes, i, 3u), uvec2(found ? 1u : 0u, value));
}

void walk(uint list, bool there) {
    SlabListWalk walk = slab_list_walk(pool, address_at(to, list, SLAB_LIST_SHIFT), there);
    while (subgroupAny(walk.slabs.more)) {
        Node node = slab_list_walk_on(pool, walk);
        uint live = slab_live_mask(node);
        for (uint m = 0u; m < SLAB_LANE_SLOTS; m++) {
            if (((live >> m) & 1u) == 0u) continue;
            uint at = atomic_add(counter, 1u);
            if (at >= room) continue;
            plain_store_at(pairs, 3u * at, list);
            plain_store_at(pairs, 3u * at + 1u, slab_list_key(walk, node, m));
            plain_store_at(pairs, 3u * at + 2u, slab_lane_value(node, m));
        }
    }
}

void main() {
    uint i = invocation_index();
    if (FUNCTION == 0u) apply(i, i < count);
    else if (FUNCTION == 1u) find(i, i < count);
    else if (FUNCTION == 2u) walk(i / TILE, i / TILE < count);
    else slab_list_clear(pool, address_at(to, i / TILE, SLAB_LIST_SHIFT), i / TILE < count);
}
