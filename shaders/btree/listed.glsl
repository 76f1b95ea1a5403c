// Listed nodes: the nodes of a tree as list.comp lists them, in a read-only phase. The inner nodes come depth by depth
// from the root on, and the leaves after them; there is no order within these.
#ifndef VKDS_BTREE_LISTED_GLSL
#define VKDS_BTREE_LISTED_GLSL

#include "btree_node.glsl"

const uint LISTED_DEPTHS = 16u;

struct Listed {
    uvec2 inner;        // slabs of the inner nodes
    uvec2 lows;         // of the leaves: the least key that each is for,
    uvec2 leaves;       // and its slab
    uvec2 counts;       // words, 0 before: inner nodes of each depth, and then LISTED_…
    uint inner_most;    // that there is room for: more are only counted
    uint leaves_most;
};

const uint LISTED_LEAVES = 16u;    // how many leaves there are
const uint LISTED_HEIGHT = 17u;    // the root's level
const uint LISTED_BROKEN = 18u;    // places where a node is not what leads to it says

// How many inner nodes there are before a depth.
uint listed_before(Listed l, uint depth) {
    uint before = 0u;
    [[dont_unroll]] for (uint d = 0u; d < min(depth, LISTED_DEPTHS); d++) before += plain_load_near(l.counts, d);
    return before;
}

uint listed_inner(Listed l) { return min(listed_before(l, LISTED_DEPTHS), l.inner_most); }
uint listed_leaves(Listed l) { return min(plain_load_near(l.counts, LISTED_LEAVES), l.leaves_most); }

// Listed node i, the leaves behind so many inner nodes.
uint listed_slab(Listed l, uint inner, uint i) {
    if (i < inner) return plain_load_at(l.inner, i);
    return plain_load_at(l.leaves, i - inner);
}

NodeHeader node_header(SlabPool pool, uint slab) {
    VKDS_HEADER v = VKDS_HEADER_LOAD(plain_load4, slab_address(pool, slab));
    return VKDS_HEADER_OF(v);
}

#endif
