// Copies some of a pool's slabs, and which of them are allocated.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_node.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 bits;    // out: a bit a slab
    uvec2 words;   // out: 32 words a slab
    uint first;    // the slabs' numbers, from a multiple of 32 on
    uint count;    // a multiple of 32
};

// An invocation has a quad.
void main() {
    uint i = invocation_index() >> 3, quad = invocation_index() & 7u;
    if (i >= count) return;
    uvec2 node = slab_address(tree.pool, pool_slab(first + i));
    plain_store4(address_add(address_at(words, i, NODE_SHIFT), quad * 16u), plain_load4(address_add(node, quad * 16u)));
    if ((i & 31u) == 0u && quad == 0u) {
        uint block = first + i >> 10;
        uint within = block & ((1u << POOL_SUPER_SHIFT) - 1u);
        uvec2 bitmap = pool_bitmap_word(tree.pool, block >> POOL_SUPER_SHIFT, within, first + i >> 5 & 31u);
        plain_store(address_at(bits, i >> 5, 2u), plain_load(bitmap));
    }
}
