// For test/linearizability: each invocation does a program of operations on a slab hash, one after another, and takes a
// ticket before and after each. So the host knows which operations overlapped.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_hash.glsl"
#include "invocation.glsl"
#include "program.glsl"

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uvec2 operations;   // as in program.glsl; those of an invocation are consecutive
    uvec2 outcomes;
    uvec2 ticket;       // a counter
    uint programs;
    uint length;        // operations per program
    uint visits;
};

void main() {
    uint i = invocation_index();
    SlabCursor cursor = slab_cursor();
    for (uint step = 0u; step < length; step++) {
        uint at = i * length + step;
        uint kind = OP_MIXED;
        K key = K(0u);
        V value = V(0u);
        if (i < programs) program_load(operations, at, kind, key, value);
        bool enabled = kind != OP_MIXED;
        uint before = enabled ? atomic_add(ticket, 1u) : 0u;
        acquire_fence();
        bool deletes_all = kind == OP_DELETE_ALL;
        if (deletes_all) value = V(0u);
        uint status = slab_hash_apply(hash, cursor, kind, key, value, enabled && !deletes_all, visits);
        uint deletion = slab_hash_delete_all(hash, key, value, enabled && deletes_all, visits);
        if (deletes_all) status = deletion;
        release_fence();
        uint after = enabled ? atomic_add(ticket, 1u) : 0u;
        if (i < programs) program_store(outcomes, at, status, value, before, after);
    }
}
