// Finds the leaf of each key of a batch. Elements after the last key get none.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 1
#include "batch_merge.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    Work work;
    PushedBatch pushed;
    uvec2 leaves;     // output: one word per position
};

void main() {
    Batch batch = batch_taken(pushed);
    uint i = invocation_index();
    bool enabled = i < batch_count(pushed);
    K key = K(0u);
    if (enabled) key = batch_key(batch, i);
    uint leaf = batch_leaf(tree, work, key, enabled);
    if (i < batch.count) plain_store_near(leaves, i, enabled ? leaf : SLAB_NULL);
}
