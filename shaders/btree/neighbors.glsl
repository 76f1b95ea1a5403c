// Neighbours: finds the pair next to a key, from the key itself on, in a read-only phase. btree_neighbor.glsl does it
// concurrent with updates.
//
// A search takes the nearest key on the right side in the key's leaf. If there is none, it goes on in the next leaf:
// upward by the link, downward from the root with the key before the leaf's range.
//
// A kernel whose queries have different directions defines VKDS_EITHER_WAY.
#ifndef VKDS_NEIGHBORS_GLSL
#define VKDS_NEIGHBORS_GLSL

#include "btree_search.glsl"
#include "results.glsl"

// Moves the key to the next one in the direction of the search. Returns false if there is none.
bool btree_step_on(bool upward, inout K key) {
    bool end = key == K(upward ? ~0u : 0u);
    if (!end) key = upward ? VKDS_NEXT(key) : VKDS_BEFORE(key);
    return !end;
}

// The distance from which on the keys of a leaf don't count. Upward, the empty key ~0 is at the greatest distance, and
// the empty key 0 of the last leaf beyond it. Downward, the empty key ~0 is on the wrong side, and the empty key 0 of
// the last leaf is at the greatest distance from ~0.
K btree_too_far(bool upward, K key) {
    if (upward) return key == K(~0u) ? VKDS_ONE : ~key;
    return VKDS_NEXT(VKDS_LESSER(key, VKDS_LAST_BUT_ONE));
}

// Finds the distance to the leaf's nearest key, and its value. Keys on the wrong side are too far. Collective.
void btree_leaf_nearest(Node n, bool upward, K key, out K nearest, out V value) {
    uint flip = upward ? 0u : ~0u;
    nearest = btree_too_far(upward, key);
    value = V(0u);
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
        K distance = VKDS_MINUS((n.pair[m].VKDS_KEY ^ flip), (key ^ flip));
        bool nearer = VKDS_BELOW(distance, nearest) && btree_lane_has(m);
        nearest = nearer ? distance : nearest;
        value = nearer ? n.pair[m].VKDS_VALUE : value;
    }
    [[unroll]] for (uint step = 1u; step < TILE; step <<= 1) {
        K other = subgroupShuffle(nearest, gl_SubgroupInvocationID ^ step);
        V its = subgroupShuffle(value, gl_SubgroupInvocationID ^ step);
        value = VKDS_BELOW(other, nearest) ? its : value;
        nearest = VKDS_LESSER(other, nearest);
    }
}

// A tile's search among leaves, for one of its lanes after the other. The same for all lanes of the tile.
struct BTreeNear {
    uint open;    // a bit for each lane whose search has not ended
    K key;
    uint leaf;    // the leaf to visit next
    bool upward;
};

// If `next`, turns to the next lane's search. Collective.
void btree_near_turn(K key, uint leaf, bool upward, bool next, inout BTreeNear s) {
    uint source = tile_first(s.open);
    K its_key = tile_shuffle(key, source);
    uint its_leaf = tile_shuffle(leaf, source);
    s.key = next ? its_key : s.key;
    s.leaf = next ? its_leaf : s.leaf;
#ifdef VKDS_EITHER_WAY
    bool its_way = tile_shuffle(upward ? 1u : 0u, source) != 0u;
    s.upward = next ? its_way : s.upward;
#endif
}

// Finds the pair with the least key from each enabled lane's key on (`upward`), or that with the greatest up to it.
// Returns STATUS_FOUND; STATUS_ABSENT if there is no such pair; or STATUS_PENDING if the search has not ended, and then
// found_key is the key to go on from. A tile visits up to `budget` leaves, and at least one for each search. Collective
// over the subgroup.
uint btree_nearest(BTree tree, BTreePrefixIndex index, bool upward, K key, bool enabled, uint budget, out K found_key,
                   out V value) {
    uint status = STATUS_PENDING, visits = 0u;
    bool todo = enabled;
    found_key = key;
    value = V(0u);
    while (subgroupAny(todo) && visits < budget) {
        uint above, leaf = btree_seek(tree, index, found_key, todo, above);
        BTreeNear s = BTreeNear(tile_ballot(todo), found_key, leaf, upward);
        btree_near_turn(found_key, leaf, upward, true, s);
        while (subgroupAny(s.open != 0u)) {
            Node n = VKDS_BTREE_NODE(tree, s.leaf, true);
            NodeHeader header = btree_header(n);
            K nearest;
            V its_value;
            btree_leaf_nearest(n, s.upward, s.key, nearest, its_value);
            bool right = VKDS_ABOVE(s.key, header.high), there = !right && btree_level(header.meta) == 0u;
            bool hit = there && VKDS_BELOW(nearest, btree_too_far(s.upward, s.key)), miss = there && !hit;
            K on = s.upward ? header.high : header.low;
            bool more = btree_step_on(s.upward, on);
            visits++;
            bool goes = (right || miss && s.upward && more) && visits < budget && header.link != SLAB_NULL;
            bool ends = !goes && s.open != 0u;
            if (ends && tile_first(s.open) == tile_lane()) {
                status = hit ? STATUS_FOUND : miss && !more ? STATUS_ABSENT : STATUS_PENDING;
                K near = s.upward ? VKDS_PLUS(s.key, nearest) : VKDS_MINUS(s.key, nearest);
                found_key = hit ? near : miss ? on : s.key;
                value = its_value;
                todo = miss && more && !s.upward;
            }
            s.key = miss ? on : s.key;
            s.leaf = goes ? header.link : s.leaf;
            s.open &= ends ? s.open - 1u : ~0u;
            btree_near_turn(found_key, leaf, upward, ends, s);
        }
    }
    return status;
}

#endif
