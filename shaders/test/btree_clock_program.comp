// For test/linearizability: each invocation does a program of operations on a B-link-tree, one after another, and takes
// a ticket before and after each, as in btree_program.comp. An OP_RANGE takes a snapshot and does other queries at it,
// too, whose results must agree. After all operations, the program repeats each OP_RANGE at its snapshot.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_neighbor.glsl"
#include "invocation.glsl"
#include "program.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 operations;   // as in program.glsl; an invocation's are consecutive. An OP_RANGE has its greatest key as
                        // value
    uvec2 outcomes;     // as in program.glsl, but with the snapshot's time instead of the 0, and at the end the status
                        // and count of the repetition
    uvec2 ticket;       // a counter
    uvec2 keys;         // output: the keys of ranges, WIDTH per operation, and then those of the repetitions
    uvec2 values;
    uint programs;
    uint length;        // operations per program
    uint visits;
};

const uint WIDTH = 4u;

void main() {
    uint i = invocation_index();
    SlabCursor cursor = slab_cursor();
    BTreePlace start = btree_anywhere(tree);
    for (uint turn = 0u; turn < 2u * length; turn++) {
        bool again = turn >= length;
        uint at = i * length + (again ? turn - length : turn);
        uvec2 outcome = address_at(outcomes, at, 5u);
        uint kind = OP_MIXED, held = 0u;
        K key = K(0u);
        V value = V(0u);
        if (i < programs) program_load(operations, at, kind, key, value);
        if (i < programs && again) held = plain_load(address_add(outcome, 4u));
        bool asks = kind == OP_RANGE, enabled = again ? asks : kind != OP_MIXED;
        uint before = enabled && !again ? atomic_add(ticket, 1u) : 0u;
        acquire_fence();
        uint status = btree_apply(tree, cursor, kind, key, value, enabled && !asks, visits);
        uint time = btree_snapshot(tree, asks && !again), count;
        if (again) time = subgroupMax(held);   // the same for all lanes that have a program
        BTreePair first, above, below;
        V there;
        uint place = WIDTH * (again ? programs * length + at : at);
        uint ranged = btree_range(tree, time, start, key, value, asks, keys, values, place, WIDTH, WIDTH, visits, count,
                                  first);
        uint up = btree_ceil(tree, time, start, key, asks, visits, above);
        uint down = btree_floor(tree, time, start, value, asks, visits, below);
        uint found = btree_find_at(tree, time, start, above.key, asks, visits, there);
        if (asks) {
            bool any = ranged == STATUS_FOUND && count != 0u, none = ranged == STATUS_FOUND && count == 0u;
            bool inside = up == STATUS_FOUND && VKDS_UP_TO(above.key, value);
            bool within = down == STATUS_FOUND && VKDS_FROM(below.key, key);
            bool fits = any == inside && any == within && none != any && up != STATUS_PENDING && down != STATUS_PENDING
                && (up != STATUS_FOUND || (found == STATUS_FOUND && there == above.value))
                && (!any || above == first);
            status = fits ? ranged : STATUS_PENDING;
            value = VKDS_VALUE_OF(count);
        }
        release_fence();
        uint after = enabled && !again ? atomic_add(ticket, 1u) : 0u;
        if (i < programs && !again) {
            program_store(outcomes, at, status, value, before, after);
            plain_store(address_add(outcome, 4u), time);
        }
        if (i < programs && again) plain_store2(address_add(outcome, 24u), uvec2(status, count));
    }
}
