// Updates and lookups of a mixed batch that also has ordered queries (mixed.glsl).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree.glsl"
#include "combine.glsl"
#include "mixed.glsl"

#ifndef VKDS_CLOCK
// Leaves all operations of the workgroup pending, also ordered queries that were done already.
void leave() {
    uint first = workgroup_index() * WORKGROUP * operation_slices() + workgroup_lane(), left = 0u;
    uint end = length_of(to.number);
    for (uint s = 0u; s < operation_slices(); s++) {
        uint i = first + s * WORKGROUP;
        uint kind = OP_MIXED;
        if (i < end) kind = byte_load(kinds, i);
        if (op_ordered(kind)) atomic_and(address_add(statuses, i & ~3u), ~(0xffu << (8u * (i & 3u))));
        left += subgroupBallotBitCount(subgroupBallot(i < end));
    }
    if (left != 0u && subgroupElect()) atomic_add(pending, left);
}
#endif

void main() {
#ifndef VKDS_CLOCK
    // the same for all invocations, because the queries have ended
    if (plain_load(to.gate) != 0u) {
        leave();
        return;
    }
#endif
    Share share = share_of(APPLIES);
    [[dont_unroll]] for (uint next = 0u; next < share.number; next += WORKGROUP) {
        Operation o = operation(share, next);
        V value = V(0u);
        if (o.todo && op_inserts(o.kind)) value = VKDS_LOAD_AT(values, o.number);
        Combined combined = combine(o.kind, o.key, value, o.todo);
        BTreeHint hint = o.start.level == 0u ? BTreeHint(o.start.node, SLAB_NULL) : BTreeHint(SLAB_NULL, o.start.node);
        SlabCursor cursor = slab_cursor();
        uint status = btree_apply(tree, cursor, o.kind, o.key, value, o.todo && combined.leads, visits & VISITS_MASK,
                                  hint);
        uint orphans = subgroupBallotBitCount(subgroupBallot(status > STATUS_ORPHAN));
        status = combine_status(combined, o.kind, status & ~STATUS_ORPHAN);
        if (o.todo && o.kind == OP_FIND) {
            VKDS_STORE_AT(values, o.number, status == STATUS_FOUND ? value : V(0u));
        }
        finish(o, APPLIES, status, orphans);
    }
}
