// Begins a batch: clears its control words, and counts the free slabs of each memory block of the pool.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 0
#include "batch_nodes.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 control;
    uvec2 free;   // output, two words per block: the number of free slabs, and 0
};

void main() {
    uint i = invocation_index();
    if (i < BATCH_CONTROL / 4u) plain_store_near(control, i, 0u);
    if (SHARED == 0u && i < tree.pool.blocks) {
        uvec2 at = pool_block(tree.pool, i);
        uvec4 used = uvec4(0u);
        [[unroll]] for (uint q = 0u; q < 8u; q++) used += uvec4(bitCount(plain_load4(address_add(at, q * 16u))));
        plain_store2(address_at(free, i, 3u), uvec2(1024u - used.x - used.y - used.z - used.w, 0u));
    }
}
