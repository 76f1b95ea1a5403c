// Plans a tree that is built in bulk, or the inner nodes above leaves that are there. One invocation works.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_build.glsl"
#include "invocation.glsl"
#include "length.glsl"

layout(constant_id = 3) const uint LEAVES = 0;   // 1: the leaves are there, and count is of them

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 keys;       // of the pairs, ascending
    Length count;     // of the pairs
    uint leaf_most;   // pairs of a leaf
    uint node_most;   // children of an inner node, above 2
};

void main() {
    if (invocation_index() != 0u) return;
    uint n = length_of(count);
    PlanLevel l = PlanLevel(1u, n, 0u, 0u);
    if (LEAVES == 0u) {
        uint given = n;   // to the leaves but the last
        if (n != 0u && plain_load_at(keys, n - 1u) == ~0u) given--;
        l = plan_share(1u, given, leaf_most);
        l.count++;
    }
    uint height = 0u, nodes = 1u;
    plan_level_store(tree.state, 0u, l);
    while (l.count > 1u && height < BTREE_LEVELS - 1u) {
        nodes += l.count;
        height++;
        l = plan_share(nodes, l.count, node_most);
        if (l.count == 1u) l.first = BTREE_ROOT;
        plan_level_store(tree.state, height, l);
    }
    plain_store4(address_add(tree.state, BTREE_PLAN_AT), uvec4(nodes, height, n, 0u));
    plain_store(address_add(tree.state, BTREE_ORPHANS_AT), 0u);
}
