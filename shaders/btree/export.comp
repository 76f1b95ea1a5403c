// Writes the pairs of leaves in key order. Each tile has a leaf.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_node.glsl"
#include "btree_version.glsl"
#include "length.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint COUNT_ALONE = 0;   // 1: only count the pairs of each leaf

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 slabs;     // the leaves
    uvec2 counts;    // with COUNT_ALONE, output: the number of pairs of each leaf
    uvec2 offsets;   // otherwise: the number of pairs before each leaf
    uvec2 keys;      // output
    uvec2 values;
    Length leaves;
    uint capacity;   // the number of pairs that fit into the output
};

void main() {
    uint leaf = invocation_index() / TILE;
    bool there = leaf < length_of(leaves);
    uint slab = tree.root, at = 0u;
    if (there) slab = plain_load_at(slabs, leaf);
    if (there && COUNT_ALONE == 0u) at = plain_load_at(offsets, leaf);
    Node n = VKDS_BTREE_NODE(tree, slab, there);
    K high = btree_header(n).high;
    uint live = 0u, pairs = 0u;   // the mask of this lane's pairs; the number of the leaf's pairs
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
        bool holds = there && btree_lane_has(m) && btree_live(n.pair[m].VKDS_KEY, high);
        live |= holds ? 1u << m : 0u;
        pairs += uint(bitCount(tile_ballot(holds)));
        if (!holds) n.pair[m].VKDS_KEY = K(~0u);   // above all others, so that it counts for none of them
    }
    if (COUNT_ALONE != 0u) {
        if (there && tile_lane() == 0u) plain_store_at(counts, leaf, pairs);
        return;
    }
    // A pair's rank is the number of pairs with smaller keys.
    uint rank[NODE_LANE_PAIRS];
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) rank[m] = at;
    [[unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) {
        K key = tile_shuffle(n.pair[node_pair_number(s)].VKDS_KEY, node_pair_lane(s));
        [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) rank[m] += VKDS_BELOW(key, n.pair[m].VKDS_KEY) ? 1u : 0u;
    }
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
        if ((live >> m & 1u) == 0u || rank[m] >= capacity) continue;
        VKDS_STORE_AT(keys, rank[m], n.pair[m].VKDS_KEY);
        VKDS_STORE_AT(values, rank[m], n.pair[m].VKDS_VALUE);
    }
}
