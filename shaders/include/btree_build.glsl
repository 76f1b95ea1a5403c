// B-link-tree, bulk build: which node stands where, and what it covers, when a tree is made of sorted pairs bottom-up.
//
// The root is slab 0; behind it come the leaves in key order, then each level's inner nodes. A level's nodes share what
// is beneath them evenly: all have as much but for one. So a node's place, range and slots follow from the number of
// pairs by a few divisions, which one invocation does beforehand: the plan. No node waits for another one.
#ifndef VKDS_BTREE_BUILD_GLSL
#define VKDS_BTREE_BUILD_GLSL

#include "btree_node.glsl"

const uint BTREE_PLAN_AT = 256u;   // byte offset in the tree's counters
const uint PLAN_NODES_AT = 0u;     // byte offsets in the plan: nodes of the tree,
const uint PLAN_HEIGHT_AT = 4u;    // the root's level,
const uint PLAN_PAIRS_AT = 8u;     // pairs of the tree,
const uint PLAN_LEVELS_AT = 16u;   // and 16 bytes a level

// A level: of n elements beneath (of leaves: the pairs but the last key's; else nodes), its nodes get each of them, and
// the first `more` nodes one more.
struct PlanLevel {
    uint first;   // number of its first node, the others follow
    uint count;   // nodes; of the leaves also the last one, the last key's, which gets no share
    uint each;
    uint more;
};

uvec2 plan_level_at(uvec2 state, uint level) { return address_add(state, BTREE_PLAN_AT + PLAN_LEVELS_AT + level * 16u); }

PlanLevel plan_level(uvec2 state, uint level) {
    uvec4 v = plain_load4(plan_level_at(state, level));
    return PlanLevel(v.x, v.y, v.z, v.w);
}

// The first element beneath node i of a level, and how many it has.
uint plan_first(PlanLevel l, uint i) { return i * l.each + min(i, l.more); }
uint plan_size(PlanLevel l, uint i) { return l.each + (i < l.more ? 1u : 0u); }

// Divides n elements among nodes of up to `most`.
PlanLevel plan_share(uint first, uint n, uint most) {
    uint count = max((n + most - 1u) / most, 1u);
    return PlanLevel(first, count, n / count, n % count);
}

#endif
