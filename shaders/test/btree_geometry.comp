// For structures/btree: the sizes and offsets of a node, to compare with those of the host.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_node.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 numbers;   // output: eight words, the last one 0
};

void main() {
    if (invocation_index() != 0u) return;
    plain_store4(numbers, uvec4(NODE_BYTES, BTREE_SLOTS, BTREE_META_AT, BTREE_LOW_AT));
    plain_store4(address_add(numbers, 16u), uvec4(BTREE_HIGH_AT, BTREE_LINK_AT, VKDS_SLOT_BYTES, 0u));
}
