// B-link-tree, bulk build: the plan of a tree that is built bottom-up from sorted pairs.
//
// The root is node number 0. After it come the leaves in key order, and then the inner nodes of each level. The nodes
// of a level share the level below evenly. So the number, range and slots of each node follow from the number of pairs
// by a few divisions. One invocation does these in advance, and stores the plan. So no node depends on another one.
#ifndef VKDS_BTREE_BUILD_GLSL
#define VKDS_BTREE_BUILD_GLSL

#include "btree_node.glsl"

const uint BTREE_LEVELS = 16u;

// The plan is in the tree's state: the number of nodes, the root's level, the number of pairs; 16 bytes per level; the
// addresses of keys and values.
const uint BTREE_PLAN_AT = 256u;
const uint PLAN_LEVELS_AT = BTREE_PLAN_AT + 16u;
const uint PLAN_SOURCE_AT = PLAN_LEVELS_AT + BTREE_LEVELS * 16u;

// A level. Its nodes share what is below it: the pairs except one with the key ~0, or the nodes of the level below.
// Each node has `each` of these, and the first `more` nodes one more.
struct PlanLevel {
    uint first;   // the number of its first node; the others follow
    uint count;   // the number of nodes. The last leaf counts, too; it is only for the key ~0, and has no share
    uint each;
    uint more;
};

PlanLevel plan_level(uvec2 state, uint level) {
    uvec4 v = plain_load4(address_add(state, PLAN_LEVELS_AT + level * 16u));
    return PlanLevel(v.x, v.y, v.z, v.w);
}

void plan_level_store(uvec2 state, uint level, PlanLevel l) {
    plain_store4(address_add(state, PLAN_LEVELS_AT + level * 16u), uvec4(l.first, l.count, l.each, l.more));
}

// The share of node i of a level: where it begins, and its size.
uint plan_first(PlanLevel l, uint i) { return i * l.each + min(i, l.more); }
uint plan_size(PlanLevel l, uint i) { return l.each + (i < l.more ? 1u : 0u); }

// A level whose nodes share n, at most `most` each.
PlanLevel plan_share(uint first, uint n, uint most) {
    uint count = max((n + most - 1u) / most, 1u);
    return PlanLevel(first, count, n / count, n % count);
}

// Writes the plan of a tree with the given leaves, whose inner nodes get at most `most` children; that must be more
// than 2. All nodes will have a parent. By one invocation.
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
