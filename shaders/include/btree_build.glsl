// B-link-tree, bulk build: which node stands where, and what it is for, when a tree is made of sorted pairs bottom-up.
//
// The root is node number 0; behind it come the leaves in key order, then each level's inner nodes. The nodes of a level
// share what is beneath them evenly. So a node's number, range and slots follow from the number of pairs by a few
// divisions, which one invocation does beforehand: the plan. Then no node waits for another one.
#ifndef VKDS_BTREE_BUILD_GLSL
#define VKDS_BTREE_BUILD_GLSL

#include "btree_node.glsl"

const uint BTREE_LEVELS = 16u;

// The plan is in the tree's state: nodes of the tree, the root's level, the count that it was made for, 0; then 16 bytes
// a level.
const uint BTREE_PLAN_AT = 256u;
const uint PLAN_LEVELS_AT = 16u;

// A level: of what is beneath (pairs but the last key's, or nodes) each node has `each`, the first ones one more.
struct PlanLevel {
    uint first;   // number of its first node; the others follow
    uint count;   // nodes. Of the leaves also the last, the last key's, which has no share
    uint each;
    uint more;    // how many have one more
};

uvec2 plan_level_at(uvec2 state, uint level) { return address_add(state, BTREE_PLAN_AT + PLAN_LEVELS_AT + level * 16u); }

PlanLevel plan_level(uvec2 state, uint level) {
    uvec4 v = plain_load4(plan_level_at(state, level));
    return PlanLevel(v.x, v.y, v.z, v.w);
}

void plan_level_store(uvec2 state, uint level, PlanLevel l) {
    plain_store4(plan_level_at(state, level), uvec4(l.first, l.count, l.each, l.more));
}

// What node i of a level has beneath: where it begins, and how much it is.
uint plan_first(PlanLevel l, uint i) { return i * l.each + min(i, l.more); }
uint plan_size(PlanLevel l, uint i) { return l.each + (i < l.more ? 1u : 0u); }

// A level whose nodes share n, up to `most` each.
PlanLevel plan_share(uint first, uint n, uint most) {
    uint count = max((n + most - 1u) / most, 1u);
    return PlanLevel(first, count, n / count, n % count);
}

#endif
