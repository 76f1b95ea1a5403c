// Does a batch of operations, or its pending operations. All have one kind, or each has its own (KIND = OP_MIXED).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree.glsl"
#include "combine.glsl"
#include "glance.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint KIND = 0;

layout(push_constant, std430) uniform Push {
    BTree tree;
    BTreePrefixIndex index;   // where operations without a hint begin
    uvec2 keys;       // K per operation
    uvec2 values;     // input and output: V per operation
    uvec2 kinds;      // one byte per operation, if KIND is OP_MIXED
    uvec2 statuses;   // output: one byte per operation
    uvec2 pending;    // counts the operations left pending
    uvec2 hints;      // from locate.comp, two words per operation: a leaf and the node above it; 0: none
    uint count;
    uint visits;
    uint retry;       // 1: does only operations whose status is STATUS_PENDING
};

void main() {
    uint i = invocation_index();
    bool todo = i < count;
    uint before = STATUS_PENDING;
    if (todo && retry != 0u) before = byte_load(statuses, i);
    todo = todo && before == STATUS_PENDING;
    uint kind = KIND;
    if (KIND == OP_MIXED) kind = todo ? byte_load(kinds, i) : OP_FIND;
    K key = K(0u);
    V value = V(0u);
    BTreeHint hint = BTreeHint(SLAB_NULL, tree.root);
    BTreePlace start = btree_anywhere(tree);
    if (todo) {
        key = VKDS_LOAD_AT(keys, i);
        if (op_inserts(kind)) value = VKDS_LOAD_AT(values, i);
        if (hints != uvec2(0u)) {
            uvec2 h = plain_load2(address_at(hints, i, 3u));
            hint = BTreeHint(h.x, h.y);
        } else if (index.bits != 0u) {
            start = btree_prefix_start(index, key);
            hint = start.level == 0u ? BTreeHint(start.node, SLAB_NULL) : BTreeHint(SLAB_NULL, start.node);
        }
    }
    Combined combined = combine(kind, key, value, todo);
    SlabCursor cursor = slab_cursor();
    VKDS_EVENT_BEGIN(todo, kind, key, value)
    bool seen = false;
    if (KIND == OP_FIND) seen = btree_glance(tree, start, key, todo, value, hint);
    uint status = btree_apply(tree, cursor, kind, key, value, todo && combined.leads && !seen, visits, hint);
    status = seen ? STATUS_FOUND : status;
    uint left = subgroupBallotBitCount(subgroupBallot(status > STATUS_ORPHAN));
    status = combine_status(combined, kind, status & ~STATUS_ORPHAN);
    VKDS_EVENT_PAIR(todo, TRACE_END, 0u, status, key, value)
    byte_store(statuses, i, count, todo ? status : before);
    if (todo && kind == OP_FIND) VKDS_STORE_AT(values, i, status == STATUS_FOUND ? value : V(0u));
    left += subgroupBallotBitCount(subgroupBallot(todo && status == STATUS_PENDING));
    if (left != 0u && subgroupElect()) atomic_add(pending, left);
}
