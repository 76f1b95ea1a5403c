// B-link-tree, bulk build: inner nodes, made from the plan and the lows of the leaves.
#ifndef VKDS_BTREE_BUILD_INNER_GLSL
#define VKDS_BTREE_BUILD_INNER_GLSL

#include "build.glsl"

// The kernel that includes this header defines the low of leaf i, and the slab of node number i.
K leaf_low(uint i);
uint node_slab(uint i);

// The low of node i of a level.
K plan_low(uvec2 state, uint level, uint i) {
    while (level != 0u) {
        i = plan_first(plan_level(state, level), i);
        level--;
    }
    return leaf_low(i);
}

// The slab of the node after node i of a level.
uint plan_link(PlanLevel l, uint i) { return i == l.count - 1u ? SLAB_NULL : node_slab(l.first + i + 1u); }

// The quad of node i of an inner level that begins with pair `at`; from BTREE_SLOTS on it is in the header.
uvec4 plan_inner(uvec2 state, uint level, PlanLevel l, uint i, uint at) {
#if VKDS_WIDE
    if (at == BTREE_SLOTS) return uvec4(btree_meta(level, 0u), 0u, plan_low(state, level, i));
    if (at > BTREE_SLOTS) {
        K high = i == l.count - 1u ? K(~0u) : VKDS_BEFORE(plan_low(state, level, i + 1u));
        return uvec4(high, plan_link(l, i), 0u);
    }
#else
    if (at == BTREE_SLOTS) {
        uint high = i == l.count - 1u ? ~0u : plan_low(state, level, i + 1u) - 1u;
        return uvec4(btree_meta(level, 0u), plan_low(state, level, i), high, plan_link(l, i));
    }
#endif
    uint beneath = plan_level(state, level - 1u).first;
    uint first = plan_first(l, i), last = first + plan_size(l, i) - 1u;
#if VKDS_WIDE
    uint a = min(first + at, last);
    return VKDS_BRANCH(plan_low(state, level - 1u, a), node_slab(beneath + a));
#else
    uint a = min(first + at, last), b = min(first + at + 1u, last);
    return uvec4(plan_low(state, level - 1u, a), node_slab(beneath + a),
                 plan_low(state, level - 1u, b), node_slab(beneath + b));
#endif
}

#endif
