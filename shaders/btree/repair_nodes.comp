// Writes the inner nodes above existing leaves.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build_inner.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 lows;     // of the leaves, ascending
    uvec2 leaves;   // their slabs
    uvec2 inner;    // slabs for all inner nodes except the root
};

K leaf_low(uint i) { return VKDS_LOAD_AT(lows, i); }

uint node_slab(uint i) {
    uint count = plan_level(tree.state, 0u).count;
    if (i == 0u) return tree.root;
    return i <= count ? plain_load_at(leaves, i - 1u) : plain_load_at(inner, i - 1u - count);
}

// Each invocation writes a quad.
void main() {
    uvec4 head = plain_load4(address_add(tree.state, BTREE_PLAN_AT));
    uint nodes = head.x, height = min(head.y, BTREE_LEVELS - 1u), count = plan_level(tree.state, 0u).count;
    uint i = invocation_index() >> 3, quad = invocation_index() & 7u;
    if (i >= nodes - count) return;
    if (i != 0u) i += count;
    uint level = i == 0u ? height : 1u;
    PlanLevel l = plan_level(tree.state, level);
    while (i - l.first >= l.count && level < BTREE_LEVELS - 1u) l = plan_level(tree.state, ++level);
    uvec2 node = slab_address(tree.pool, node_slab(i));
    plain_store4(address_add(node, 16u * quad),
                 plan_inner(tree.state, level, l, i - l.first, VKDS_QUAD_SLOTS * quad));
}
