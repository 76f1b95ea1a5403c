// For test/linearizability: each invocation does a program of operations on a slab hash, one after another, and
// takes tickets around each, so that the host knows which operations overlapped.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_hash.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uvec2 operations;   // a quad an operation: kind (OP_MIXED: none), key, value, 0; an invocation's are neighbours
    uvec2 outcomes;     // a quad an operation: status, value, ticket before, ticket after
                        // at 64 bits two quads an operation each: without key or value, and these in the second one
    uvec2 ticket;       // a counter
    uint programs;
    uint length;        // operations a program
    uint visits;
};

#if VKDS_WIDE
void load(uint at, out uint kind, out K key, out V value) {
    kind = plain_load(address_at(operations, at, 5u));
    uvec4 pair = plain_load4(address_add(address_at(operations, at, 5u), 16u));
    key = pair.xy;
    value = pair.zw;
}
void store(uint at, uint status, V value, uint before, uint after) {
    plain_store4(address_at(outcomes, at, 5u), uvec4(status, 0u, before, after));
    plain_store4(address_add(address_at(outcomes, at, 5u), 16u), uvec4(value, 0u, 0u));
}
#else
void load(uint at, out uint kind, out K key, out V value) {
    uvec4 operation = plain_load4(address_at(operations, at, 4u));
    kind = operation.x;
    key = operation.y;
    value = operation.z;
}
void store(uint at, uint status, V value, uint before, uint after) {
    plain_store4(address_at(outcomes, at, 4u), uvec4(status, value, before, after));
}
#endif

void main() {
    uint i = invocation_index();
    SlabCursor cursor = slab_cursor();
    for (uint step = 0u; step < length; step++) {
        uint at = i * length + step;
        uint kind = OP_MIXED;
        K key = K(0u);
        V value = V(0u);
        if (i < programs) load(at, kind, key, value);
        bool enabled = kind != OP_MIXED;
        uint before = enabled ? atomic_add(ticket, 1u) : 0u;
        acquire_fence();
        uint status = slab_hash_apply(hash, cursor, kind, key, value, enabled, visits);
        release_fence();
        uint after = enabled ? atomic_add(ticket, 1u) : 0u;
        if (i < programs) store(at, status, value, before, after);
    }
}
