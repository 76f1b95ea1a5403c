// Neighbours of a batch of one kind or a mixed one (mixed.glsl): successors, ceils, predecessors and floors. No updates
// run at the same time, except with VKDS_CLOCK.
#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef VKDS_CLOCK
#include "btree_neighbor.glsl"
#else
#define VKDS_EITHER_WAY
#include "neighbors.glsl"
#endif
#include "mixed.glsl"

void main() {
    Share share = share_of(NEIGHBORS);
    [[dont_unroll]] for (uint next = 0u; next < share.number; next += WORKGROUP) {
        Operation o = operation(share, next);
        bool strict = o.kind == OP_SUCCESSOR || o.kind == OP_PREDECESSOR;
        bool upward = o.kind == OP_SUCCESSOR || o.kind == OP_CEIL;
        bool beyond = strict && o.key == K(upward ? ~0u : 0u), asks = o.todo && !beyond;
        K from = !strict ? o.key : upward ? VKDS_NEXT(o.key) : VKDS_BEFORE(o.key), key;
        V value;
#ifdef VKDS_CLOCK
        BTreePair nearest;
        uint time = btree_snapshot(tree, o.todo);   // the subgroup's queries see it
        uint status = btree_floor(tree, time, o.start, from, asks && !upward, visits & VISITS_MASK, nearest);
        key = nearest.key;
        value = nearest.value;
        uint above = btree_ceil(tree, time, o.start, from, asks && upward, visits & VISITS_MASK, nearest);
        status = upward ? above : status;
        key = upward ? nearest.key : key;
        value = upward ? nearest.value : value;
#else
        BTreePrefixIndex prefixes = BTreePrefixIndex(index, visits >> 24);
        uint status = btree_nearest(tree, prefixes, upward, from, asks, leaf_budget(), key, value);
#endif
        if (beyond) status = STATUS_ABSENT;
        if (o.todo && status != STATUS_PENDING)
            VKDS_STORE_AT(values, o.number, status == STATUS_FOUND ? value : V(0u));
        if (o.todo && status == STATUS_FOUND) {
            uint place = pairs_place(o);
            VKDS_STORE_AT(out_keys, place, key);
            VKDS_STORE_AT(out_values, place, value);
        }
        finish(o, NEIGHBORS, status, 0u);
    }
}
