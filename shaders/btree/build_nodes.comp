// Writes all nodes of a tree that is built in bulk. Each tile writes a node.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build_inner.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint SHARED = 0;   // 1: the pool has other users

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 slabs;   // if SHARED: from word 1 on, the slabs of all nodes except the root
};

uvec2 keys, values;   // of the pairs

uint node_slab(uint i) {
    if (SHARED == 0u) return pool_slab(i);
    return i == 0u ? tree.root : plain_load_at(slabs, i);
}

K leaf_low(uint i) {
    if (i == 0u) return K(0u);
    PlanLevel l = plan_level(tree.state, 0u);
    return i == l.count - 1u ? K(~0u) : VKDS_LOAD_AT(keys, plan_first(l, i));
}

// The quad of leaf i that begins with pair `at`. The tree has `pairs` pairs.
uvec4 leaf_quad(PlanLevel l, uint i, uint at, uint pairs) {
    bool last = i == l.count - 1u;
    uint first = plan_first(l, i);
    uint size = last ? pairs - first : plan_size(l, i);
    // The leaf after this one begins at its first key; the last one is only for the key ~0.
    K high = K(~0u);
    if (!last) high = VKDS_BEFORE((i == l.count - 2u ? K(~0u) : VKDS_LOAD_AT(keys, first + size)));
#if VKDS_WIDE
    if (at == BTREE_SLOTS) return uvec4(btree_meta(0u, 0u), 0u, leaf_low(i));
    if (at > BTREE_SLOTS) return uvec4(high, plan_link(l, i), 0u);
    if (at >= size) return P(btree_empty_key(high), V(0u));
    return P(VKDS_LOAD_AT(keys, first + at), VKDS_LOAD_AT(values, first + at));
#else
    if (at == BTREE_SLOTS) return uvec4(btree_meta(0u, 0u), leaf_low(i), high, plan_link(l, i));
    uvec4 q = uvec4(btree_empty_key(high), 0u, btree_empty_key(high), 0u);
    uvec2 from_keys = address_at(keys, first + at, 2u), from_values = address_at(values, first + at, 2u);
    if (at < size) q.xy = uvec2(plain_load(from_keys), plain_load(from_values));
    if (at + 1u < size) q.zw = uvec2(plain_load_near(from_keys, 1u), plain_load_near(from_values, 1u));
    return q;
#endif
}

void main() {
    const uint lanes = min(TILE, 8u);   // a node has 8 quads
    uint i = invocation_index() / lanes;
    uvec4 source = plain_load4(address_add(tree.state, PLAN_SOURCE_AT));
    keys = source.xy;
    values = source.zw;
    uvec4 head = plain_load4(address_add(tree.state, BTREE_PLAN_AT));
    uint nodes = head.x, height = min(head.y, BTREE_LEVELS - 1u), pairs = head.z;
    if (i >= nodes) return;
    uvec2 node = slab_address(tree.pool, node_slab(i));
    uint level = i == 0u ? height : 0u;
    PlanLevel l = plan_level(tree.state, level);
    while (i - l.first >= l.count && level < BTREE_LEVELS - 1u) l = plan_level(tree.state, ++level);
    for (uint quad = invocation_index() % lanes; quad < 8u; quad += lanes) {
        uvec4 q;
        if (level == 0u) q = leaf_quad(l, i - l.first, VKDS_QUAD_SLOTS * quad, pairs);
        else q = plan_inner(tree.state, level, l, i - l.first, VKDS_QUAD_SLOTS * quad);
        plain_store4(address_add(node, 16u * quad), q);
    }
}
