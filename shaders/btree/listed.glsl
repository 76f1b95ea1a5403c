// Listed nodes: the nodes of a tree as listed by list.comp, in a read-only phase. Inner nodes are listed depth by depth
// from the root on, and leaves separately. Nodes of the same depth are in no order.
#ifndef VKDS_BTREE_LISTED_GLSL
#define VKDS_BTREE_LISTED_GLSL

#include "btree_node.glsl"

const uint LISTED_DEPTHS = 16u;

struct Listed {
    uvec2 inner;        // slabs of the inner nodes
    uvec2 lows;         // the lows of the leaves
    uvec2 leaves;       // the slabs of the leaves
    uvec2 counts;       // words, 0 before: the number of inner nodes of each depth, and then LISTED_…
    uint inner_most;    // the number of inner nodes that fit; further ones are only counted
    uint leaves_most;
};

const uint LISTED_LEAVES = 16u;    // the number of leaves
const uint LISTED_HEIGHT = 17u;    // the root's level
const uint LISTED_BROKEN = 18u;    // the number of references to nodes that don't match the reference

// The number of inner nodes above a depth.
uint listed_before(Listed l, uint depth) {
    uint before = 0u;
    [[dont_unroll]] for (uint d = 0u; d < min(depth, LISTED_DEPTHS); d++) before += plain_load_near(l.counts, d);
    return before;
}

uint listed_inner(Listed l) { return min(listed_before(l, LISTED_DEPTHS), l.inner_most); }
uint listed_leaves(Listed l) { return min(plain_load_near(l.counts, LISTED_LEAVES), l.leaves_most); }

// Listed node i, if the leaves follow `inner` inner nodes.
uint listed_slab(Listed l, uint inner, uint i) {
    if (i < inner) return plain_load_at(l.inner, i);
    return plain_load_at(l.leaves, i - inner);
}

NodeHeader node_header(SlabPool pool, uint slab) {
    VKDS_HEADER v = VKDS_HEADER_LOAD(plain_load4, slab_address(pool, slab));
    return VKDS_HEADER_OF(v);
}

#endif
