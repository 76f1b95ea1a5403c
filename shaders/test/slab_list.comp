// For test/shader: slab_list.glsl. One invocation per operation or lookup, or one tile per list.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_list.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint FUNCTION = 0;   // 0: apply, 1: find, 2: walk, 3: clear

layout(push_constant, std430) uniform Push {
    SlabPool pool;
    uvec2 to;           // the lists
    uvec2 operations;   // two quads per invocation: kind and list; key and value, two words each
    uvec2 outcomes;     // one quad per invocation. apply: the status, input and output; find: 1 if the key is there.
                        // Then 0, and the value
    uvec2 pairs;        // walk: two quads per pair: the list; key and value
    uvec2 counter;      // counts these pairs
    uint count;         // the number of operations, lookups or lists
    uint room;          // the number of pairs that fit
    uint visits;
};

void load(uint i, out uint kind, out uint list, out K key, out V value) {
    uvec2 from = address_at(operations, i, 5u);
    kind = plain_load(from);
    list = plain_load(address_add(from, 4u));
    key = VKDS_LOAD(address_add(from, 16u));
    value = VKDS_LOAD(address_add(from, 24u));
}

void store(uint i, uint status, V value) {
    plain_store_at(outcomes, 4u * i, status);
    VKDS_STORE(address_add(address_at(outcomes, i, 4u), 8u), value);
}

void apply(uint i, bool there) {
    uint kind = OP_MIXED, list = 0u;
    K key = K(0u);
    V value = V(0u);
    uint before = STATUS_INSERTED;
    if (there) {
        load(i, kind, list, key, value);
        before = plain_load_at(outcomes, 4u * i);
        // OP_DELETE_ALL adds to the number that an earlier dispatch has deleted.
        if (kind == OP_DELETE_ALL) value = VKDS_LOAD(address_add(address_at(outcomes, i, 4u), 8u));
    }
    bool todo = there && before == STATUS_PENDING;
    SlabCursor cursor = slab_cursor();
    uint status = slab_list_apply(pool, cursor, address_at(to, list, SLAB_LIST_SHIFT), kind, key, value, todo, visits);
    if (todo) store(i, status, value);
}

void find(uint i, bool there) {
    uint kind = OP_MIXED, list = 0u;
    K key = K(0u);
    V value = V(0u);
    if (there) load(i, kind, list, key, value);
    bool found = slab_list_find(pool, address_at(to, list, SLAB_LIST_SHIFT), key, there, value);
    if (there) store(i, found ? 1u : 0u, value);
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
            plain_store_at(pairs, 8u * at, list);
            VKDS_STORE(address_add(address_at(pairs, at, 5u), 16u), slab_list_key(walk, node, m));
            VKDS_STORE(address_add(address_at(pairs, at, 5u), 24u), slab_lane_value(node, m));
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
