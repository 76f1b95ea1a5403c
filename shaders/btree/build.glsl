// B-link-tree, bulk build: the plan of a tree that is built bottom-up from sorted pairs.
//
// The root is node number 0. After it come the leaves in key order, and then the inner nodes of each level. The nodes
// of a level share the level below evenly. So a node's number, range and slots follow from the number of pairs by a few
// divisions. One invocation does them beforehand, and stores the plan. Then no node depends on another one.
#ifndef VKDS_BTREE_BUILD_GLSL
#define VKDS_BTREE_BUILD_GLSL

#include "btree_node.glsl"

const uint BTREE_LEVELS = 16u;

// The plan is in the tree's state: nodes of the tree, the root's level, the pairs; 16 bytes a level; the pairs' place.
const uint BTREE_PLAN_AT = 256u;
const uint PLAN_LEVELS_AT = BTREE_PLAN_AT + 16u;
const uint PLAN_SOURCE_AT = PLAN_LEVELS_AT + BTREE_LEVELS * 16u;

// A level: of what is beneath (pairs but the last key's, or nodes) each node has `each`, the first ones one more.
struct PlanLevel {
    uint first;   // number of its first node; the others follow
    uint count;   // nodes. Of the leaves also the last, the last key's, which has no share
    uint each;
    uint more;    // how many have one more
};

PlanLevel plan_level(uvec2 state, uint level) {
    uvec4 v = plain_load4(address_add(state, PLAN_LEVELS_AT + level * 16u));
    return PlanLevel(v.x, v.y, v.z, v.w);
}

void plan_level_store(uvec2 state, uint level, PlanLevel l) {
    plain_store4(address_add(state, PLAN_LEVELS_AT + level * 16u), uvec4(l.first, l.count, l.each, l.more));
}

// What node i of a level has beneath: where it begins, and how much it is.
uint plan_first(PlanLevel l, uint i) { return i * l.each + min(i, l.more); }
uint plan_size(PlanLevel l, uint i) { return l.each + (i < l.more ? 1u : 0u); }

// A level whose nodes share n, up to `most` each.
PlanLevel plan_share(uint first, uint n, uint most) {
    uint count = max((n + most - 1u) / most, 1u);
    return PlanLevel(first, count, n / count, n % count);
}

// Writes the plan of a tree with such leaves, whose inner nodes get up to `most` children, more than 2. All nodes will
// have a parent. By one invocation.
void plan_write(uvec2 state, PlanLevel leaves, uint most, uint pairs) {
    PlanLevel l = leaves;
    uint height = 0u, nodes = 1u;
    plan_level_store(state, 0u, l);
    while (l.count > 1u && height < BTREE_LEVELS - 1u) {
        nodes += l.count;
        height++;
        l = plan_share(nodes, l.count, most);
        if (l.count == 1u) l.first = 0u;
        plan_level_store(state, height, l);
    }
    plain_store4(address_add(state, BTREE_PLAN_AT), uvec4(nodes, height, pairs, 0u));
    plain_store(address_add(state, BTREE_ORPHANS_AT), 0u);
}

#endif
