// For structures/btree: ranges, their counts, successors and ceils as kernels of yours may ask for them beside updates
// (btree_range.glsl), of a batch as btree/mixed_walk.comp has them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_range.glsl"
#include "../btree/mixed.glsl"

void main() {
    Share share = share_of(WALKS);
    [[dont_unroll]] for (uint next = 0u; next < share.number; next += WORKGROUP) {
        Operation o = operation(share, next);
        bool neighbour = o.kind != OP_RANGE && o.kind != OP_COUNT_RANGE;
        K high = K(~0u);
        uint number;
        if (o.todo && !neighbour) high = VKDS_LOAD_AT(to.highs, o.number);
        uint room = o.kind == OP_COUNT_RANGE ? 0u : neighbour ? 1u : to.width;
        uint most = o.kind == OP_COUNT_RANGE ? ~0u : room;
        BTreePair nearest;
        uint status = btree_range(tree, o.start, o.strict ? VKDS_NEXT(o.key) : o.key, high,
                                  o.todo && !o.beyond, out_keys, out_values, pairs_place(o), room, most,
                                  visits & VISITS_MASK, number, nearest);
        if (o.beyond || (status == STATUS_FOUND && number == 0u)) status = STATUS_ABSENT;
        if (o.todo && status != STATUS_PENDING) {
            VKDS_STORE_AT(values, o.number,
                          status == STATUS_ABSENT ? V(0u) : neighbour ? nearest.value : VKDS_VALUE_OF(number));
        }
        finish(o, WALKS, status, 0u);
    }
}
