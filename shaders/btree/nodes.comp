// Copies nodes.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_node.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    SlabPool pool;
    uvec2 slabs;   // of the nodes
    uvec2 words;   // output: 32 words per node
    uint count;
};

// Each invocation copies a quad.
void main() {
    uint i = invocation_index() >> 3, quad = invocation_index() & 7u;
    if (i >= count) return;
    uvec2 node = slab_address(pool, plain_load_at(slabs, i));
    plain_store4(address_add(address_at(words, i, NODE_SHIFT), quad * 16u), plain_load4(address_add(node, quad * 16u)));
}
