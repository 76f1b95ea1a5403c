// Plans the bulk build of a tree, and begins its counters anew. One invocation works.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_build.glsl"
#include "invocation.glsl"
#include "length.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 keys;       // of the pairs, ascending
    Length pairs;
    uint leaf_most;   // pairs of a leaf
    uint node_most;   // children of an inner node, above 2
};

void write(uint level, PlanLevel l) { plain_store4(plan_level_at(tree.state, level), uvec4(l.first, l.count, l.each, l.more)); }

void main() {
    if (invocation_index() != 0u) return;
    uint n = length_of(pairs);
    uint shared_out = n;   // the last leaf has at most the last key
    if (n != 0u && plain_load_at(keys, n - 1u) == ~0u) shared_out--;
    PlanLevel l = plan_share(1u, shared_out, leaf_most);
    l.count++;
    write(0u, l);
    uint height = 0u, nodes = 1u;
    while (l.count > 1u && height < 15u) {
        nodes += l.count;
        height++;
        l = plan_share(nodes, l.count, node_most);
        if (l.count == 1u) l.first = BTREE_ROOT;
        write(height, l);
    }
    plain_store4(address_add(tree.state, BTREE_PLAN_AT), uvec4(nodes, height, n, 0u));
    plain_store4(tree.state, uvec4(0u));
}
