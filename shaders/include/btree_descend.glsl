// B-link-tree descent: goes down from a node to the node of a given level whose range has a key, concurrent with
// updates.
//
// The loop is separate from the work at the leaves, because that is 1.6 times faster. Each iteration visits one node;
// each tile works for one of its lanes after the other. The words read may be of any age: side links lead to nodes that
// were split off, and a search that arrives too far right starts again at the root. So inner nodes are read from caches
// that are not coherent, if the pool is the tree's own.
#ifndef VKDS_BTREE_DESCEND_GLSL
#define VKDS_BTREE_DESCEND_GLSL

#include "btree_node.glsl"

// The result of a visit of an inner node: the child for the key, the right neighbour, or the root. `level` is that of
// the visited node. Each lane has candidates, and votes find the last one that applies. Collective over the subgroup.
struct BTreeStep {
    uint next;
    uint level;
    bool down;   // next is a child
};

BTreeStep btree_step(Node n, K key, uint root) {
    const uint HEADER_VOTE = VKDS_WIDE != 0 ? 6u : 7u;
    uint votes = 0u;   // one bit for each quad of the node
    uint candidate = 0u, meta = 0u;
#if VKDS_WIDE
    // A lane has a slot of each quad, or one of the header's two pairs. The first of these applies if the key is below
    // the low, the second if the key is above the high.
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
    // SLAB_NULL if the high was read after a split and the link before it, when the node was the last of its level.
    s.next = s.next == SLAB_NULL ? root : s.next;
#if VKDS_WIDE
    s.level = btree_level(tile_shuffle(meta, node_pair_lane(BTREE_SLOTS)));
#else
    s.level = btree_level(tile_shuffle(meta, TILE - 1u));
#endif
    s.down = last < HEADER_VOTE;
    return s;
}

// Moves `node` of each enabled lane down to the node of `level` for its key. The range of `node` must begin at or below
// the key. `above` becomes the node that led there, and is unchanged if `node` was there already. `visits` counts node
// visits up to `limit`; a lane that has not arrived by then, or has come too far right, gets SLAB_NULL as its node. It
// must start again at the root, after an acquire_fence. Collective over the subgroup.
void btree_descend(BTree tree, K key, uint level, bool enabled, uint limit, inout uint visits, inout uint node,
                   inout uint above) {
    bool busy = enabled;
    for (; subgroupAny(busy) && visits < limit; visits++) {
        uint queue = tile_ballot(busy);
        uint source = queue == 0u ? 0u : uint(findLSB(queue));
        K k = tile_shuffle(key, source);
        uint at = tile_shuffle(node, source);
        uvec2 address = slab_address(tree.pool, at);
        Node n;
        if (BTREE_SHARES != 0u) n = node_load_coherent(address, queue != 0u);
        else n = node_load_old(address, queue != 0u);
        BTreeStep s = btree_step(n, k, tree.root);
        if (busy && tile_lane() == source) {
            VKDS_EVENT(true, TRACE_VISIT, at, 0u)
            VKDS_EVENT(!s.down, TRACE_SIDE, at, s.next)
            bool here = s.level <= level && s.down, child = s.level == level + 1u && s.down;
            bool astray = !s.down && s.next == tree.root;
            above = child ? at : above;
            node = here ? at : astray ? SLAB_NULL : s.next;
            busy = !here && !child && !astray;
        }
    }
    if (busy) node = SLAB_NULL;
}

#endif
