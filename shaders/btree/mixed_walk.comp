// Ranges, counts of ranges, successors and ceils of a batch of one kind or a mixed one (mixed.glsl). No updates run at
// the same time, except with VKDS_CLOCK.
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
        bool neighbour = o.kind != OP_RANGE && o.kind != OP_COUNT_RANGE, counts = o.kind == OP_COUNT_RANGE;
        K low = o.strict ? VKDS_NEXT(o.key) : o.key, high = K(~0u);
        uint number;
        if (o.todo && !neighbour) high = VKDS_LOAD_AT(to.highs, o.number);
        uint room = counts ? 0u : neighbour ? 1u : to.width, most = counts ? ~0u : room, place = pairs_place(o);
        bool asks = o.todo && !o.beyond;
#ifdef VKDS_CLOCK
        BTreePair nearest;
        uint time = btree_snapshot(tree, o.todo);   // the subgroup's queries see it
        uint status = btree_range(tree, time, o.start, low, high, asks, out_keys, out_values, place, room, most,
                                  visits & VISITS_MASK, number, nearest);
        V value = nearest.value;
#else
        P nearest;
        uint above;
        asks = asks && VKDS_UP_TO(low, high);
        bool spare = subgroupAll(!asks || ((place | room) & (VKDS_PER_QUAD - 1u)) == 0u);
        if (visits <= VISITS_MASK) o.start = btree_root(tree);   // there is no index, and the level must be right
        uint leaf = btree_seek(tree, o.start, low, asks, above);
        BTreeList list = BTreeList(leaf, P(low, high), place, most);
        // Each lane may read so many leaves. A mixed batch must be done in one dispatch, also if all its queries count
        // the whole tree.
        uint budget = (visits & VISITS_MASK) * TILE;
        bool done = btree_list(tree, list, asks, neighbour && asks, spare, out_keys, out_values, budget, number,
                               nearest);
        uint status = done ? STATUS_FOUND : STATUS_PENDING;
        V value = nearest.VKDS_VALUE;
#endif
        if (o.beyond || (status == STATUS_FOUND && number == 0u)) status = STATUS_ABSENT;
        if (o.todo && status != STATUS_PENDING) {
            VKDS_STORE_AT(values, o.number,
                          status == STATUS_ABSENT ? V(0u) : neighbour ? value : VKDS_VALUE_OF(number));
        }
        finish(o, WALKS, status, 0u);
    }
}
