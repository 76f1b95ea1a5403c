// Finds the leaf of each key of a batch (none for elements after the last key), and the status of each operation,
// before the batch changes the tree. The first operation with a key finds what the tree has, and each other one finds
// the result of the operation before it.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 1
#include "batch_merge.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    Work work;
    PushedBatch pushed;   // its payload must have indices
    uvec2 leaves;         // output: one word per position
    uvec2 statuses;       // output: one word per operation, in the order of the batch
};

void main() {
    Batch batch = batch_taken(pushed);
    uint i = invocation_index();
    bool enabled = i < batch_count(pushed);
    K key = K(0u);
    if (enabled) key = batch_key(batch, i);
    uint leaf = batch_leaf(tree, work, key, enabled);
    if (i < batch.count) plain_store_near(leaves, i, enabled ? leaf : SLAB_NULL);
    uint kind = 0u;
    if (enabled) kind = batch_kind(batch, i);
    bool first = enabled && i == 0u;
    bool there = false;   // the key is there before this operation
    if (enabled && !first) {
        first = batch_key(batch, i - 1u) != key;
        if (!first) there = batch_kind(batch, i - 1u) != OP_DELETE;
    }
    if (first) {
        Node n;
        uvec2 node = slab_address(tree.pool, leaf);
        [[unroll]] for (uint q = 0u; q < BTREE_SLOTS / VKDS_QUAD_SLOTS; q++) {
            uvec4 v = plain_load4(address_add(node, q * 16u));
            VKDS_NODE_PUT(n, q, v);
        }
        there = leaf_slot(n, key) != SLOT_NONE;
    }
    uint status;
    if (kind == OP_DELETE) status = there ? STATUS_DELETED : STATUS_ABSENT;
    else if (!there) status = STATUS_INSERTED;
    else status = kind == OP_INSERT_UNIQUE ? STATUS_FOUND : STATUS_ASSIGNED;
    if (enabled) plain_store_near(statuses, batch_source(batch, i), status);
}
