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
    uvec2 ticket;       // a counter
    uint programs;
    uint length;        // operations a program
    uint visits;
};

void main() {
    uint i = invocation_index();
    SlabCursor cursor = slab_cursor();
    for (uint step = 0u; step < length; step++) {
        uint at = i * length + step;
        uvec4 operation = uvec4(0u);
        if (i < programs) operation = plain_load4(address_at(operations, at, 4u));
        uint value = operation.z;
        bool enabled = operation.x != OP_MIXED;
        uint before = enabled ? atomic_add(ticket, 1u) : 0u;
        acquire_fence();
        uint status = slab_hash_apply(hash, cursor, operation.x, operation.y, value, enabled, visits);
        release_fence();
        uint after = enabled ? atomic_add(ticket, 1u) : 0u;
        if (i < programs) plain_store4(address_at(outcomes, at, 4u), uvec4(status, value, before, after));
    }
}
