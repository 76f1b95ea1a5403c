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

BTreeStep btree_step(Node n, K key, uint root) {
    const uint HEADER_VOTE = VKDS_WIDE != 0 ? 6u : 7u;
    uint votes = 0u;   // a bit a quad of the node
    uint candidate = 0u, meta = 0u;
#if VKDS_WIDE
    // A lane has a slot of each quad, or one of the header's two: the first says that the key is below, the second that
    // it is above.
    [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++) {
        uint place = node_pair_index(j);
        P pair = n.pair[j];
        bool lower = place == BTREE_SLOTS, upper = place > BTREE_SLOTS;
        bool fits = lower ? number_below(key, pair.zw) : upper ? number_below(pair.xy, key)
                  : !number_below(key, pair.xy);
        uint own = lower ? root : pair.VKDS_CHILD;
        meta = lower ? pair.x : meta;
        uint vote = tile_ballot(fits);
        votes |= vote << (j * TILE & 31u);
        candidate = fits ? own : candidate;
    }
#else
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
#endif
    uint last = uint(findMSB(votes | 1u));
    BTreeStep s;
    s.next = tile_shuffle(candidate, last & (TILE - 1u));
    // The high of a split, and the link from before it: the last node of its level had none.
    s.next = s.next == SLAB_NULL ? root : s.next;
#if VKDS_WIDE
    s.level = btree_level(tile_shuffle(meta, node_pair_lane(BTREE_SLOTS)));
#else
    s.level = btree_level(tile_shuffle(meta, TILE - 1u));
#endif
    s.down = last < HEADER_VOTE;
    return s;
}

// Leads each enabled lane from `node`, whose range has to begin at or below its key, to the node of a level for its
// key. `above` becomes the node that led there; where `node` itself is it, that is left alone. `visits` counts visits
// of nodes, which are not to pass the limit: then the node is SLAB_NULL. Collective over the subgroup.
void btree_descend(BTree tree, K key, uint level, bool enabled, uint limit, inout uint visits, inout uint node,
                   inout uint above) {
    bool busy = enabled;
    for (; subgroupAny(busy) && visits < limit; visits++) {
        uint queue = tile_ballot(busy);
        uint source = queue == 0u ? 0u : uint(findLSB(queue));
        K k = tile_shuffle(key, source);
        uint at = tile_shuffle(node, source);
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
