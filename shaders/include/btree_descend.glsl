// The way down a B-link-tree: from the root to the node of a level whose range has a key.
//
// A tight loop, apart from what is done below (it is 1.6 times faster so): one node a round, each tile for one of its
// lanes after the other. Where kernels that change the tree run beside it, define BTREE_SHARED as 1 before: then nodes
// are read coherently. What is read may be of any age: side links lead to what was split off, and who arrives too far
// to the right, by two words of different age, begins again.
#ifndef VKDS_BTREE_DESCEND_GLSL
#define VKDS_BTREE_DESCEND_GLSL

#include "btree_node.glsl"

#ifndef BTREE_SHARED
#define BTREE_SHARED 0
#endif

Node btree_load(uvec2 address, bool enabled) {
#if BTREE_SHARED
    return node_load_coherent(address, enabled);
#else
    return node_load(address, enabled);
#endif
}

// For each enabled lane the node of a level for its key, and the one above it that led there (the root, if it is the
// root itself). Visits of nodes count as rounds, which are not to pass the limit: then the node is SLAB_NULL.
// Collective over the subgroup.
void btree_descend(BTree tree, uint key, uint level, bool enabled, uint limit, inout uint round, inout uint node, inout uint above) {
    bool busy = enabled;
    uint at = BTREE_ROOT;   // the tile's place
    while (subgroupAny(busy) && round < limit) {
        uint queue = tile_ballot(busy);
        uint source = queue == 0u ? 0u : uint(findLSB(queue));
        uint k = tile_shuffle(key, source);
        uint target = tile_shuffle(level, source);
        Node n = btree_load(slab_address(tree.pool, at), queue != 0u);
        Fence f = btree_fence(n);
        uint child = btree_child(n, k);
        uint here = btree_level(f.meta);
        bool astray = k < f.low, right = k > f.high;
        bool arrived = !astray && !right && here <= target + 1u;
        if (queue != 0u && arrived && tile_lane() == source) {
            above = at;
            node = here <= target ? at : child;
            busy = false;
        }
        at = astray || arrived || queue == 0u ? BTREE_ROOT : right ? f.link : child;
        round++;
    }
    if (busy) node = SLAB_NULL;
}

#endif
