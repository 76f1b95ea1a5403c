// Writes the three nodes of an empty tree: the root, the leaf of all keys but the last, and the last key's leaf.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_node.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
};

const uint LEAF = 1u;   // slabs; the root is BTREE_ROOT
const uint LAST_LEAF = 2u;

void write(uint slab, uvec2 slot, uvec2 others, Fence fence) {
    uvec2 node = slab_address(tree.pool, slab);
    for (uint i = 0u; i < BTREE_SLOTS; i++) plain_store2(btree_slot(node, i), i == 0u ? slot : others);
    plain_store4(address_add(node, BTREE_META_AT), uvec4(fence.meta, fence.low, fence.high, fence.link));
}

void main() {
    uint i = invocation_index();
    uvec2 last = uvec2(~0u, LAST_LEAF);
    uvec2 empty = uvec2(btree_vacancy(0u), 0u), empty_last = uvec2(btree_vacancy(~0u), 0u);
    if (i == 0u) write(BTREE_ROOT, uvec2(0u, LEAF), last, Fence(btree_meta(1u, 0u), 0u, ~0u, SLAB_NULL));
    if (i == 1u) write(LEAF, empty, empty, Fence(btree_meta(0u, 0u), 0u, ~0u - 1u, LAST_LEAF));
    if (i == 2u) write(LAST_LEAF, empty_last, empty_last, Fence(btree_meta(0u, 0u), ~0u, ~0u, SLAB_NULL));
}
