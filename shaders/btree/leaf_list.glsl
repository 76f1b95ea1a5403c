// Leaf list: the leaves of a tree in key order, with prefix sums of their numbers of pairs, for Rank and Select. It is
// made for a batch, while nothing changes the tree.
#ifndef VKDS_LEAF_LIST_GLSL
#define VKDS_LEAF_LIST_GLSL

#include "btree_node.glsl"
#include "btree_version.glsl"
#include "length.glsl"

struct LeafList {
    uvec2 lows;      // K each, ascending from 0 on: the least key that each leaf is for
    uvec2 leaves;    // their slabs
    uvec2 before;    // the pairs of the leaves before each
    Length leaves_listed;
};

// The last of n ascending words that is no greater than one; the first one is 0.
uint leaf_list_last(uvec2 words, uint n, uint most) {
    uint begin = 1u, end = n;   // of those that may be greater
    while (begin < end) {
        uint middle = begin + ((end - begin) >> 1);
        if (plain_load_at(words, middle) <= most) begin = middle + 1u;
        else end = middle;
    }
    return begin - 1u;
}

#if VKDS_WIDE
// The same of keys.
uint leaf_list_last(uvec2 keys, uint n, K most) {
    uint begin = 1u, end = n;
    while (begin < end) {
        uint middle = begin + ((end - begin) >> 1);
        if (VKDS_UP_TO(VKDS_LOAD_AT(keys, middle), most)) begin = middle + 1u;
        else end = middle;
    }
    return begin - 1u;
}
#endif

// The leaf of each lane that is there, with the keys of slots without a pair at ~0 and their bits clear in `live`. A
// lane reads a leaf by itself: TILE is 1. Collective over the subgroup.
Node leaf_list_load(BTree tree, LeafList list, uint leaf, bool there, out uint live) {
    uint slab = tree.root;
    if (there) slab = plain_load_at(list.leaves, leaf);
    Node n = VKDS_BTREE_NODE(tree, slab, there);
    K high = btree_header(n).high;
    live = 0u;
    [[unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) {
        if (there && btree_live(n.pair[s].VKDS_KEY, high)) live |= 1u << s;
        else n.pair[s].VKDS_KEY = K(~0u);
    }
    return n;
}

#endif
