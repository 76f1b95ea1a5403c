// B-link-tree neighbours: ordered queries for the nearest key, concurrent with updates. Functions are collective, with
// one key per lane. A pair that is found was in the tree at some time during the call, and no nearer pair was in it
// during the whole call.
#ifndef VKDS_BTREE_NEIGHBOR_GLSL
#define VKDS_BTREE_NEIGHBOR_GLSL

#include "btree_range.glsl"

// Finds the pair with the least key not below `key`. The arguments are those of btree_range. Returns STATUS_FOUND,
// STATUS_ABSENT if there is no such pair, or STATUS_PENDING. Collective.
uint btree_ceil(BTree tree, VKDS_TIME_PARAMETER BTreePlace start, K key, bool enabled, uint budget,
                out BTreePair pair) {
    uint count;
    uint status = btree_range(tree, VKDS_TIME start, key, K(~0u), enabled, uvec2(0u), uvec2(0u), 0u, 0u, 1u, budget,
                              count, pair);
    return status == STATUS_FOUND && count == 0u ? STATUS_ABSENT : status;
}

// Finds the pair with the greatest key not above `key`, likewise. Collective.
uint btree_floor(BTree tree, VKDS_TIME_PARAMETER BTreePlace start, K key, bool enabled, uint budget,
                 out BTreePair pair) {
    uint status = STATUS_PENDING, visits = 0u;
    bool todo = enabled;
    pair = BTreePair(K(0u), V(0u));
    while (subgroupAny(todo) && visits < budget) {
        uint leaf = start.node, above = tree.root;
        btree_descend(tree, key, 0u, todo && start.level != 0u, budget, visits, leaf, above);
        bool lost = todo && leaf == SLAB_NULL;   // by words that were too old
        start = btree_anywhere(tree);   // for lanes that reached a wrong node, or go on to the left
        uint open = tile_ballot(todo && leaf != SLAB_NULL);
        while (subgroupAny(open != 0u) && visits < budget) {
            bool busy = open != 0u;
            uint source = tile_first(open);
            K k = tile_shuffle(key, source);
            Node n;
            NodeHeader header;
            bool whole = VKDS_BTREE_VIEW(tree, tile_shuffle(leaf, source), busy, budget, visits, n, header);
            bool astray = VKDS_BELOW(k, header.low) || btree_level(header.meta) != 0u;
            bool right = VKDS_ABOVE(k, header.high);
            bool reads = busy && whole && !astray && !right;
            // This lane's pairs with keys of the leaf's range up to k; near is the least distance of their keys from k.
            uint inside = reads ? btree_inside(n, header.high, BTreeWalk(leaf, header.low, k, 0u)) : 0u;
            K near = K(~0u);
            V value = V(0u);
            [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
                bool nearer = ((inside >> m) & 1u) != 0u && VKDS_UP_TO(VKDS_MINUS(k, n.pair[m].VKDS_KEY), near);
                near = nearer ? VKDS_MINUS(k, n.pair[m].VKDS_KEY) : near;
                value = nearer ? n.pair[m].VKDS_VALUE : value;
            }
            bool any = tile_ballot(inside != 0u) != 0u;
            K nearest = tile_min(inside != 0u ? near : K(~0u));
            uint winner = tile_ballot(inside != 0u && near == nearest);
            V its_value = tile_shuffle(value, tile_first(winner));
            bool mine = busy && tile_lane() == source;
            if (mine && reads && any) {
                pair = BTreePair(VKDS_MINUS(k, nearest), its_value);
                status = STATUS_FOUND;
            }
            if (mine && reads && !any && header.low == K(0u)) status = STATUS_ABSENT;
            if (mine && reads && !any) key = VKDS_BEFORE(header.low);
            if (mine && whole && right) leaf = header.link;
            lost = lost || mine && whole && astray;
            if (mine) todo = status == STATUS_PENDING;
            bool ends = busy && whole && (astray || !right);
            open &= ends ? open - 1u : ~0u;
            visits++;
        }
        if (subgroupAny(lost)) acquire_fence();
    }
    return status;
}

#endif
