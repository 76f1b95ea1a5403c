// For test/linearizability: each invocation does a program of operations on a B-link-tree, one after another, and takes
// a ticket before and after each. So the host knows which operations overlapped. OP_CEIL and OP_FLOOR tell whether the
// key itself is there.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_neighbor.glsl"
#include "invocation.glsl"
#include "program.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
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
        bool ceils = kind == OP_CEIL, floors = kind == OP_FLOOR;
        uint status = btree_apply(tree, cursor, kind, key, value, enabled && !op_ordered(kind), visits);
        BTreePair above, below;
        uint up = btree_ceil(tree, btree_anywhere(tree), key, ceils, visits, above);
        uint down = btree_floor(tree, btree_anywhere(tree), key, floors, visits, below);
        if (op_ordered(kind)) {
            BTreePair pair = above;
            if (floors) pair = below;
            status = ceils ? up : down;
            if (status == STATUS_FOUND && pair.key != key) status = STATUS_ABSENT;
            value = pair.value;
        }
        release_fence();
        uint after = enabled ? atomic_add(ticket, 1u) : 0u;
        if (i < programs) program_store(outcomes, at, status, value, before, after);
    }
}
