// Finds pairs by rank; the pair with the least key has rank 0.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "leaf_list.glsl"
#include "results.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    LeafList list;
    uvec2 ranks;        // one word per query
    uvec2 out_keys;     // output: K per query, 0 if there is none
    uvec2 out_values;
    uvec2 statuses;     // output: one byte per query, STATUS_FOUND or STATUS_ABSENT
    Length count;
};

void main() {
    uint n = length_of(count), i = invocation_index(), leaf = 0u, left = 0u, live;
    bool there = i < n;
    if (there) {
        uint rank = plain_load_at(ranks, i);
        leaf = leaf_list_last(list.before, length_of(list.leaves_listed), rank);
        left = rank - plain_load_at(list.before, leaf);
    }
    Node node = leaf_list_load(tree, list, leaf, there, live);
    P pair = P(0u);
    bool found = false;
    [[unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) {
        uint below = 0u;   // the number of the leaf's keys below it
        [[unroll]] for (uint other = 0u; other < BTREE_SLOTS; other++)
            below += VKDS_BELOW(node.pair[other].VKDS_KEY, node.pair[s].VKDS_KEY) ? 1u : 0u;
        if (below == left && (live >> s & 1u) != 0u) {
            pair = node.pair[s];
            found = true;
        }
    }
    if (there) {
        VKDS_STORE_AT(out_keys, i, pair.VKDS_KEY);
        VKDS_STORE_AT(out_values, i, pair.VKDS_VALUE);
    }
    byte_store(statuses, i, n, found ? STATUS_FOUND : STATUS_ABSENT);
}
