// Ranges and counts of ranges of a batch of one kind or a mixed one (mixed.glsl). No updates run at the same time,
// except with VKDS_CLOCK.
#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef VKDS_CLOCK
#include "btree_range.glsl"
#else
#include "ranges.glsl"
#endif
#include "mixed.glsl"

void main() {
    Share share = share_of(WALKS);
    [[dont_unroll]] for (uint next = 0u; next < share.number; next += WORKGROUP) {
        Operation o = operation(share, next);
        K high = K(~0u);
        if (o.todo) high = VKDS_LOAD_AT(to.highs, o.number);
        bool counts = o.kind == OP_COUNT_RANGE;
        uint number, room = counts ? 0u : to.width, most = counts ? ~0u : room, place = pairs_place(o);
#ifdef VKDS_CLOCK
        BTreePair least;
        uint time = btree_snapshot(tree, o.todo);   // the subgroup's queries see it
        uint status = btree_range(tree, time, o.start, o.key, high, o.todo, out_keys, out_values, place, room, most,
                                  visits & VISITS_MASK, number, least);
#else
        bool asks = o.todo && VKDS_UP_TO(o.key, high);
        bool spare = subgroupAll(!asks || ((place | room) & (VKDS_PER_QUAD - 1u)) == 0u);
        uint above, leaf = btree_seek(tree, BTreePrefixIndex(index, visits >> 24), o.key, asks, above);
        BTreeList list = BTreeList(leaf, P(o.key, high), place, most);
        bool done = btree_list(tree, list, asks, spare, out_keys, out_values, leaf_budget(), number);
        uint status = done ? STATUS_FOUND : STATUS_PENDING;
#endif
        if (status == STATUS_FOUND && number == 0u) status = STATUS_ABSENT;
        if (o.todo && status != STATUS_PENDING) VKDS_STORE_AT(values, o.number, VKDS_VALUE_OF(number));
        finish(o, WALKS, status, 0u);
    }
}
