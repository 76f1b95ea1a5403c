// Writes all nodes of a tree that is built in bulk. A tile writes a node.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_build.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 keys;     // of the pairs, ascending, none twice
    uvec2 values;
};

uint height;

// The least key that node i of a level is for.
uint low_of(uint level, uint i) {
    PlanLevel l = plan_level(tree.state, level);
    while (level != 0u) {
        i = plan_first(l, i);
        level--;
        l = plan_level(tree.state, level);
    }
    if (i == 0u) return 0u;
    return i == l.count - 1u ? ~0u : plain_load_at(keys, plan_first(l, i));
}

// The two pairs of node i of a level from place `at` on, an even number.
uvec4 pairs_of_leaf(PlanLevel l, uint i, uint at, uint pairs) {
    bool last = i == l.count - 1u;
    uint first = plan_first(l, i), size = plan_size(l, i);
    uint high = last ? ~0u : i == l.count - 2u ? ~0u - 1u : plain_load_at(keys, first + size) - 1u;
    if (last) {
        first = plan_first(l, i);
        size = pairs - first;
    }
    if (at == BTREE_SLOTS) {
        uint low = i == 0u ? 0u : last ? ~0u : plain_load_at(keys, first);
        return uvec4(btree_meta(0u, 0u), low, high, last ? SLAB_NULL : pool_slab(l.first + i + 1u));
    }
    uvec4 q = uvec4(btree_vacancy(high), 0u, btree_vacancy(high), 0u);
    if (at < size) q.xy = uvec2(plain_load_at(keys, first + at), plain_load_at(values, first + at));
    if (at + 1u < size) q.zw = uvec2(plain_load_at(keys, first + at + 1u), plain_load_at(values, first + at + 1u));
    return q;
}

uvec4 pairs_of_inner(PlanLevel l, uint level, uint i, uint at) {
    uint first = plan_first(l, i), size = plan_size(l, i);
    uint beneath = plan_level(tree.state, level - 1u).first;
    if (at == BTREE_SLOTS) {
        bool last = i == l.count - 1u;
        uint high = last ? ~0u : low_of(level, i + 1u) - 1u;
        return uvec4(btree_meta(level, 0u), low_of(level, i), high, last ? SLAB_NULL : pool_slab(l.first + i + 1u));
    }
    uint a = first + min(at, size - 1u), b = first + min(at + 1u, size - 1u);
    return uvec4(low_of(level - 1u, a), pool_slab(beneath + a), low_of(level - 1u, b), pool_slab(beneath + b));
}

void main() {
    const uint lanes = min(TILE, 8u);   // quads of a node
    uint i = invocation_index() / lanes;
    uint lane = invocation_index() % lanes;
    uvec4 head = plain_load4(address_add(tree.state, BTREE_PLAN_AT));
    if (i >= head.x) return;
    height = head.y;
    uvec2 node = slab_address(tree.pool, pool_slab(i));
    uint level = i == BTREE_ROOT ? height : 0u;
    PlanLevel l = plan_level(tree.state, level);
    while (i - l.first >= l.count) l = plan_level(tree.state, ++level);
    for (uint quad = lane; quad < 8u; quad += lanes) {
        uvec4 q;
        if (level == 0u) q = pairs_of_leaf(l, i - l.first, 2u * quad, head.z);
        else q = pairs_of_inner(l, level, i - l.first, 2u * quad);
        plain_store4(address_add(node, 16u * quad), q);
    }
}
