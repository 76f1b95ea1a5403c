// For test/linearizability: each invocation does a program of operations on a B-link-tree, one after another, and
// takes tickets around each, as in btree_program.comp. Those that ask for a range take a snapshot, and ask it for more:
// what they find has to fit. When a program has done all of its operations, each range is asked once more at its
// snapshot, which the program has held since.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_neighbor.glsl"
#include "invocation.glsl"
#include "program.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 operations;   // as program.glsl has them; an invocation's are neighbours. Of a range, the value is its high
    uvec2 outcomes;     // in each also the snapshot's time in place of the 0; last, status and count of the second time
    uvec2 ticket;       // a counter
    uvec2 keys;         // out: of ranges, WIDTH pairs an operation; then those of the second time
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
        if (again) time = subgroupMax(held);   // of all lanes that have a program, it is the same
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
