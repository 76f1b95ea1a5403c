// Predecessors and floors, concurrent with updates, of a batch of one kind or a mixed one (mixed.glsl).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_neighbor.glsl"
#include "mixed.glsl"

void main() {
    Share share = share_of(FLOORS);
    [[dont_unroll]] for (uint next = 0u; next < share.number; next += WORKGROUP) {
        Operation o = operation(share, next);
        BTreePair nearest;
        VKDS_MOMENT(o)
        uint status = btree_floor(tree, VKDS_TIME o.start, o.strict ? VKDS_BEFORE(o.key) : o.key, o.todo && !o.beyond,
                                  visits & VISITS_MASK, nearest);
        if (o.beyond) status = STATUS_ABSENT;
        if (o.todo && status != STATUS_PENDING)
            VKDS_STORE_AT(values, o.number, status == STATUS_FOUND ? nearest.value : V(0u));
        if (o.todo && status == STATUS_FOUND) {
            uint place = pairs_place(o);
            VKDS_STORE_AT(out_keys, place, nearest.key);
            VKDS_STORE_AT(out_values, place, nearest.value);
        }
        finish(o, FLOORS, status, 0u);
    }
}
