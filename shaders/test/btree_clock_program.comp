// For test/linearizability: each invocation does a program of operations on a B-link-tree, one after another, and
// takes tickets around each, as in btree_program.comp. Those that ask for a range take a snapshot, and ask it for more:
// what they find has to fit.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_neighbor.glsl"
#include "invocation.glsl"
#include "program.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 operations;   // as program.glsl has them; an invocation's are neighbours. Of a range, the value is its high
    uvec2 outcomes;
    uvec2 ticket;       // a counter
    uvec2 keys;         // out: of ranges, WIDTH pairs an operation
    uvec2 values;
    uint programs;
    uint length;        // operations a program
    uint visits;
};

const uint WIDTH = 4u;

void main() {
    uint i = invocation_index();
    SlabCursor cursor = slab_cursor();
    BTreePlace start = btree_anywhere(tree);
    for (uint step = 0u; step < length; step++) {
        uint at = i * length + step;
        uint kind = OP_MIXED;
        K key = K(0u);
        V value = V(0u);
        if (i < programs) program_load(operations, at, kind, key, value);
        bool enabled = kind != OP_MIXED, asks = kind == OP_RANGE;
        uint before = enabled ? atomic_add(ticket, 1u) : 0u;
        acquire_fence();
        uint status = btree_apply(tree, cursor, kind, key, value, enabled && !asks, visits);
        uint time = btree_snapshot(tree, asks), count;
        BTreePair first, above, below;
        V again;
        uint ranged = btree_range(tree, time, start, key, value, asks, keys, values, WIDTH * at, WIDTH, WIDTH, visits,
                                  count, first);
        uint up = btree_ceil(tree, time, start, key, asks, visits, above);
        uint down = btree_floor(tree, time, start, value, asks, visits, below);
        uint found = btree_find_at(tree, time, start, above.key, asks, visits, again);
        if (asks) {
            bool any = ranged == STATUS_FOUND && count != 0u, none = ranged == STATUS_FOUND && count == 0u;
            bool inside = up == STATUS_FOUND && VKDS_UP_TO(above.key, value);
            bool within = down == STATUS_FOUND && VKDS_FROM(below.key, key);
            bool fits = any == inside && any == within && none != any && up != STATUS_PENDING && down != STATUS_PENDING
                && (up != STATUS_FOUND || (found == STATUS_FOUND && again == above.value))
                && (!any || above == first);
            status = fits ? ranged : STATUS_PENDING;
            value = VKDS_VALUE_OF(count);
        }
        release_fence();
        uint after = enabled ? atomic_add(ticket, 1u) : 0u;
        if (i < programs) program_store(outcomes, at, status, value, before, after);
    }
}
