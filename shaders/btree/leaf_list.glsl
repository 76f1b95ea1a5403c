// Leaf list: the leaves of a tree in key order, with prefix sums of their numbers of pairs, for Rank and Select. It is
// made for one batch, in a read-only phase of the tree.
#ifndef VKDS_LEAF_LIST_GLSL
#define VKDS_LEAF_LIST_GLSL

#include "btree_node.glsl"
#include "btree_version.glsl"
#include "length.glsl"

struct LeafList {
    uvec2 lows;      // K per leaf, ascending from 0 on: their lows
    uvec2 leaves;    // their slabs
    uvec2 before;    // one word per leaf: the number of pairs in earlier leaves
    Length leaves_listed;
};

// The index of the last of n ascending words that is not above `most`. The first word must be 0.
uint leaf_list_last(uvec2 words, uint n, uint most) {
    uint begin = 1u, end = n;   // the words begin … end-1 may be above
    while (begin < end) {
        uint middle = begin + ((end - begin) >> 1);
        if (plain_load_at(words, middle) <= most) begin = middle + 1u;
        else end = middle;
    }
    return begin - 1u;
}

#if VKDS_WIDE
// The same for keys.
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

// Loads each lane's leaf, if it is there. Slots without a pair get the key ~0, and their bits in `live` are clear. Each
// lane reads its leaf alone, because TILE is 1. Collective over the subgroup.
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
