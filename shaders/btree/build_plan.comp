// Plans a tree that is built in bulk, from ascending pairs: the given ones, or what was made from them. By one
// invocation.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build.glsl"
#include "length.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 given_keys, given_values;
    uvec2 sorted_keys, sorted_values;       // the given pairs in key order
    uvec2 distinct_keys, distinct_values;   // without the earlier ones of equal keys
    uvec2 lengths;    // 0: the given pairs ascend. Or words: not 0 if the given pairs don't ascend, not 0 if the sorted
                      // ones don't, the number of distinct ones
    Length count;     // the number of given pairs
    uint leaf_most;   // the greatest number of pairs in a leaf
    uint node_most;   // the greatest number of children of an inner node
};

void main() {
    if (invocation_index() != 0u) return;
    uvec4 source = uvec4(given_keys, given_values);
    uint n = length_of(count);
    if ((lengths.x | lengths.y) != 0u) {
        if (plain_load_at(lengths, 0u) != 0u) source = uvec4(sorted_keys, sorted_values);
        if (plain_load_at(lengths, 1u) != 0u) {
            source = uvec4(distinct_keys, distinct_values);
            n = plain_load_at(lengths, 2u);
        }
    }
    plain_store4(address_add(tree.state, PLAN_SOURCE_AT), source);
    uint shared_out = n;   // the last leaf has the key ~0, and nothing else
    if (n != 0u && VKDS_LOAD_AT(source.xy, n - 1u) == K(~0u)) shared_out--;
    PlanLevel leaves = plan_share(1u, shared_out, leaf_most);
    leaves.count++;
    plan_write(tree.state, leaves, node_most, n);
}
