// Finds the number of pairs with keys below each query.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "leaf_list.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    LeafList list;
    uvec2 keys;    // K per query
    uvec2 ranks;   // output: one word per query
    Length count;
};

void main() {
    uint i = invocation_index(), leaf = 0u, live;
    K key = K(0u);
    bool there = i < length_of(count);
    if (there) {
        key = VKDS_LOAD_AT(keys, i);
        leaf = leaf_list_last(list.lows, length_of(list.leaves_listed), key);
    }
    Node n = leaf_list_load(tree, list, leaf, there, live);
    if (!there) return;
    uint rank = plain_load_at(list.before, leaf);
    [[unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) rank += VKDS_BELOW(n.pair[s].VKDS_KEY, key) ? 1u : 0u;
    plain_store_at(ranks, i, rank);
}
