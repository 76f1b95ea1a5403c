// For structures/btree: the ordered queries of a mixed batch as kernels of yours may ask them beside updates
// (btree_range.glsl, btree_neighbor.glsl).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_neighbor.glsl"
#include "../btree/mixed.glsl"

void main() {
    for (uint function = NEIGHBORS; function <= WALKS; function++) {
        barrier();   // all have read what share_of wrote before
        Share share = share_of(function);
        [[dont_unroll]] for (uint next = 0u; next < share.number; next += WORKGROUP) {
            Operation o = operation(share, next);
            Sought s = sought(o);   // a range's own key counts, too
            bool near = function == NEIGHBORS, down = near && !s.upward, asks = o.todo && !s.beyond;
            K high = K(~0u);
            if (o.todo && !near) high = VKDS_LOAD_AT(to.highs, o.number);
            uint number, place = pairs_place(o);
            uint room = o.kind == OP_COUNT_RANGE ? 0u : near ? 1u : to.width;
            uint most = o.kind == OP_COUNT_RANGE ? ~0u : room;
            BTreePair above, below;
            uint status = btree_range(tree, o.start, s.from, high, asks && !down, out_keys, out_values, place, room,
                                      most, visits & VISITS_MASK, number, above);
            uint floors = btree_floor(tree, o.start, s.from, asks && down, visits & VISITS_MASK, below);
            if (down) status = floors;
            if (s.beyond || (!down && status == STATUS_FOUND && number == 0u)) status = STATUS_ABSENT;
            if (o.todo && down && status == STATUS_FOUND) {
                VKDS_STORE_AT(out_keys, place, below.key);
                VKDS_STORE_AT(out_values, place, below.value);
            }
            V value = near ? (down ? below.value : above.value) : VKDS_VALUE_OF(number);
            if (o.todo && status != STATUS_PENDING)
                VKDS_STORE_AT(values, o.number, status == STATUS_ABSENT ? V(0u) : value);
            finish(o, function, status, 0u);
        }
    }
}
