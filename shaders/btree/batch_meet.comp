// Looks up the keys of a batch and their values, before the batch changes the tree.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 1
#include "batch_merge.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    PushedBatch pushed;
    uvec2 leaves;   // the leaf of each position
    uvec2 values;   // output: V per position
    uvec2 found;    // output: one byte per position, 1 if the key is there, else 0
};

void main() {
    Batch batch = batch_taken(pushed);
    uint i = invocation_index();
    bool there = false;
    if (i < batch_count(pushed)) {
        uvec2 node = slab_address(tree.pool, plain_load_near(leaves, i));
        K key = batch_key(batch, i);
        V value = V(0u);
        // A key in a leaf's range is never the key of its free slots.
        [[unroll]] for (uint q = 0u; q < BTREE_SLOTS / VKDS_QUAD_SLOTS; q++) {
            uvec4 v = plain_load4(address_add(node, q * 16u));
#if VKDS_WIDE
            there = there || v.VKDS_KEY == key;
            value = v.VKDS_KEY == key ? v.VKDS_VALUE : value;
#else
            there = there || v.x == key || v.z == key;
            value = v.x == key ? v.y : v.z == key ? v.w : value;
#endif
        }
        VKDS_STORE_NEAR(values, i, value);
    }
    byte_store(found, i, batch.count, there ? 1u : 0u);
}
