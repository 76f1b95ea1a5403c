// For structures/btree: a batch of kinds whose lookups glance at the tree (btree/glance.glsl) while updates of the same
// dispatch change it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree.glsl"
#include "../btree/glance.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    BTreePrefixIndex index;
    uvec2 keys;       // as in btree/apply.comp
    uvec2 values;
    uvec2 kinds;
    uvec2 statuses;
    uvec2 pending;
    uvec2 glances;    // counts the lookups that a glance has answered
    uint count;
    uint visits;
    uint retry;       // not used
};

void main() {
    uint i = invocation_index(), kind = OP_FIND;
    bool todo = i < count;
    K key = K(0u);
    V value = V(0u);
    BTreePlace start = btree_anywhere(tree);
    BTreeHint hint = BTreeHint(SLAB_NULL, tree.root);
    if (todo) {
        kind = byte_load(kinds, i);
        key = VKDS_LOAD_AT(keys, i);
        value = VKDS_LOAD_AT(values, i);
        start = btree_prefix_start(index, key);
    }
    SlabCursor cursor = slab_cursor();
    bool seen = btree_glance(tree, start, key, todo && kind == OP_FIND, value, hint);
    uint status = btree_apply(tree, cursor, kind, key, value, todo && !seen, visits, hint);
    status = seen ? STATUS_FOUND : status & ~STATUS_ORPHAN;
    byte_store(statuses, i, count, status);
    if (todo && kind == OP_FIND) VKDS_STORE_AT(values, i, value);
    uint left = subgroupBallotBitCount(subgroupBallot(todo && status == STATUS_PENDING));
    uint glanced = subgroupBallotBitCount(subgroupBallot(seen));
    if (left != 0u && subgroupElect()) atomic_add(pending, left);
    if (glanced != 0u && subgroupElect()) atomic_add(glances, glanced);
}
