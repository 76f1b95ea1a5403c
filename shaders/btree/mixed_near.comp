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
        Sought s = sought(o);
        bool asks = o.todo && !s.beyond;
        K key;
        V value;
#ifdef VKDS_CLOCK
        BTreePair nearest;
        uint time = btree_snapshot(tree, o.todo);   // the subgroup's queries see it
        uint status = btree_floor(tree, time, o.start, s.from, asks && !s.upward, visits & VISITS_MASK, nearest);
        key = nearest.key;
        value = nearest.value;
        uint above = btree_ceil(tree, time, o.start, s.from, asks && s.upward, visits & VISITS_MASK, nearest);
        status = s.upward ? above : status;
        key = s.upward ? nearest.key : key;
        value = s.upward ? nearest.value : value;
#else
        BTreePrefixIndex prefixes = BTreePrefixIndex(index, visits >> 24);
        uint status = btree_nearest(tree, prefixes, s.upward, s.from, asks, leaf_budget(), key, value);
#endif
        if (s.beyond) status = STATUS_ABSENT;
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
