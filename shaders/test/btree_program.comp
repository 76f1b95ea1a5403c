// For test/linearizability: each invocation does a program of operations on a B-link-tree, one after another, and
// takes tickets around each, so that the host knows which operations overlapped. OP_CEIL and OP_FLOOR are asked whether
// the key itself is there.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_neighbor.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
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
        bool ceils = operation.x == OP_CEIL, floors = operation.x == OP_FLOOR;
        uint status = btree_apply(tree, cursor, operation.x, operation.y, value, enabled && !op_ordered(operation.x),
                                  visits);
        BTreePair above, below;
        uint up = btree_ceil(tree, btree_anywhere(tree), operation.y, ceils, visits, above);
        uint down = btree_floor(tree, btree_anywhere(tree), operation.y, floors, visits, below);
        if (op_ordered(operation.x)) {
            BTreePair pair = ceils ? above : below;
            status = ceils ? up : down;
            if (status == STATUS_FOUND && pair.key != operation.y) status = STATUS_ABSENT;
            value = pair.value;
        }
        release_fence();
        uint after = enabled ? atomic_add(ticket, 1u) : 0u;
        if (i < programs) plain_store4(address_at(outcomes, at, 4u), uvec4(status, value, before, after));
    }
}
