// The way down a B-link-tree, concurrent with those who change it: from a node above to the node of a level whose range
// has a key.
//
// A tight loop, apart from what is done below (it is 1.6 times faster so): one node an iteration, each tile for one of
// its lanes after the other. What is read may be of any age: side links lead to what was split off, and who arrives too
// far to the right, by two words of different age, begins again at the root.
#ifndef VKDS_BTREE_DESCEND_GLSL
#define VKDS_BTREE_DESCEND_GLSL

#include "btree_node.glsl"

// Where a visit of an inner node leads: to the child for the key, to the right, or back to the root. `level` is the
// node's. Each lane knows a candidate, and a vote finds the last one that applies. Collective over the subgroup.
struct BTreeStep {
    uint next;
    uint level;
    bool down;   // next is a child
};

BTreeStep btree_step(Node n, uint key, uint root) {
    const uint HEADER_VOTE = 7u;
    uint votes = 0u;   // a bit a quad of the node
    uint candidate = 0u, meta = 0u;
    [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++) {
        uvec2 first = n.pair[2u * j], second = n.pair[2u * j + 1u];
        bool fits = first.x <= key;
        uint own = second.x <= key ? second.y : first.y;
        if (j == NODE_QUADS - 1u) {
            bool has_header = tile_lane() == TILE - 1u;
            fits = has_header ? key < first.y || key > second.x : fits;
            own = has_header ? (key < first.y ? root : second.y) : own;
            meta = first.x;
        }
        uint vote = tile_ballot(fits);
        votes |= vote << (j * TILE & 31u);
        candidate = vote != 0u ? own : candidate;
    }
    uint last = uint(findMSB(votes | 1u));
    BTreeStep s;
    s.next = tile_shuffle(candidate, last & (TILE - 1u));
    // The high of a split, and the link from before it: the last node of its level had none.
    s.next = s.next == SLAB_NULL ? root : s.next;
    s.level = btree_level(tile_shuffle(meta, TILE - 1u));
    s.down = last < HEADER_VOTE;
    return s;
}

// Leads each enabled lane from `node`, whose range has to begin at or below its key, to the node of a level for its
// key. `above` becomes the node that led there; where `node` itself is it, that is left alone. `visits` counts visits
// of nodes, which are not to pass the limit: then the node is SLAB_NULL. Collective over the subgroup.
void btree_descend(BTree tree, uint key, uint level, bool enabled, uint limit, inout uint visits, inout uint node,
                   inout uint above) {
    bool busy = enabled;
    for (; subgroupAny(busy) && visits < limit; visits++) {
        uint queue = tile_ballot(busy);
        uint source = queue == 0u ? 0u : uint(findLSB(queue));
        uint k = tile_shuffle(key, source), at = tile_shuffle(node, source);
        BTreeStep s = btree_step(node_load_coherent(slab_address(tree.pool, at), queue != 0u), k, tree.root);
        if (busy && tile_lane() == source) {
            bool here = s.level <= level && s.down, child = s.level == level + 1u && s.down;
            above = child ? at : above;
            node = here ? at : s.next;
            busy = !here && !child;
        }
    }
    if (busy) node = SLAB_NULL;
}

#endif
