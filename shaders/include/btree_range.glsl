// Ranges and neighbours of a B-link-tree beside updates: collective functions, an operation a lane.
//
// Leaves are read one after the other, each at a moment of its own. So a range is not one moment: each pair of it was
// there at some time of the call, and what was there all the time is in it; keys ascend, and none comes twice.
//
// A leaf is read, and then, behind a fence, whether it is latched, its high and its link. If it is not latched, then
// whatever was moved away before the reading lies above the high, and the walk comes to it by the link; what was moved
// away since was still seen. If it is, it is read again, in a later round. Without 64-bit atomics updates are made under
// the latch, and the leaf must also be as it was before.
#ifndef VKDS_BTREE_RANGE_GLSL
#define VKDS_BTREE_RANGE_GLSL

#include "btree.glsl"
#include "btree_top.glsl"
#include "btree_walk.glsl"

// Reads a leaf, the same for all lanes of the tile. False: it is to be read again. Collective.
bool btree_view(BTree tree, uint leaf, bool busy, out Node n, out Fence fence) {
    uvec2 address = slab_address(tree.pool, leaf);
    uvec2 meta_at = address_add(address, BTREE_META_AT);
    uint before = 0u;
    bool torn = false;
#if !VKDS_INT64_ATOMICS
    if (busy) before = atomic_load(meta_at);
    torn = tile_ballot(btree_latched(before)) != 0u;   // no lane reads on before all have this
    acquire_fence();
#endif
    n = leaf_load(address, busy);
    acquire_fence();
    uint meta = 0u;
    uvec2 range = uvec2(0u), end = uvec2(0u);
    if (busy) range = coherent_load2(meta_at);
    if (busy) meta = atomic_load(meta_at);
    bool other = false;
#if !VKDS_INT64_ATOMICS
    other = meta != before;
#endif
    torn = torn || tile_ballot(btree_latched(meta) || other) != 0u;   // behind it, all lanes have read the latch
    acquire_fence();
#if VKDS_INT64_ATOMICS
    if (busy) end = atomic_load2(address_add(address, BTREE_HIGH_AT));
#else
    if (busy) end = coherent_load2(address_add(address, BTREE_HIGH_AT));
#endif
    end = tile_shuffle(end, 0u);
    fence = Fence(tile_shuffle(meta, 0u), tile_shuffle(range.y, 0u), end.x, end.y);
    return !torn;
}

// Where the search for any key may begin: at the root, whatever its level.
BTreePlace btree_anywhere() { return BTreePlace(BTREE_ROOT, 1u); }

// A pair that a range has.
struct BTreePair {
    uint key;
    uint value;
};

// The pairs from low to high, at most so many, looked for from a node on whose low is not above `low` (btree_top's, or
// btree_anywhere): their number, and the first of them, 0 and 0 where there is none. The first `room` of them are written
// to two arrays, from a place of them on. STATUS_FOUND; STATUS_PENDING where the rounds (node visits of the tile) were
// used up, and then what was written means nothing. Collective.
uint btree_range(BTree tree, BTreePlace start, uint low, uint high, bool enabled, uvec2 keys, uvec2 values, uint place,
                 uint room, uint most, uint rounds, out uint count, out BTreePair first) {
    bool todo = enabled && low <= high && most != 0u;
    uint status = enabled && !todo ? STATUS_FOUND : STATUS_PENDING;
    uint round = 0u;
    count = 0u;
    first = BTreePair(0u, 0u);
    while (subgroupAny(todo) && round < rounds) {
        uint leaf = start.node, above = BTREE_ROOT;
        btree_descend(tree, low, 0u, todo && start.level != 0u, rounds, round, leaf, above);
        start = btree_anywhere();   // for who was led astray
        uint open = tile_ballot(todo && leaf != SLAB_NULL);
        BTreeWalk walk = BTreeWalk(BTREE_ROOT, 0u, 0u, 0u);
        uint to = 0u, space = 0u, limit = 0u;
        bool next = true;
        while (subgroupAny(open != 0u) && round < rounds) {
            // The walk of the next lane begins where that one's has got to.
            uint source = uint(findLSB(open)) & (TILE - 1u);
            BTreeWalk its = BTreeWalk(tile_shuffle(leaf, source), tile_shuffle(low, source), tile_shuffle(high, source),
                                      tile_shuffle(count, source));
            uint its_place = tile_shuffle(place, source), its_room = tile_shuffle(room, source);
            uint its_most = tile_shuffle(most, source);
            if (next) walk = its;
            to = next ? its_place : to;
            space = next ? its_room : space;
            limit = next ? its_most : limit;
            bool busy = open != 0u;

            Node n;
            Fence fence;
            bool whole = btree_view(tree, walk.node, busy, n, fence);
            // A side link that is older than the high before it has led too far to the right.
            bool astray = busy && whole && (walk.low < fence.low || btree_level(fence.meta) != 0u);
            bool reads = busy && whole && !astray;
            uint inside = reads ? btree_inside(n, fence.high, walk) : 0u;
            uint rank[16], twice;
            btree_ranks_of_any(n, inside, rank, twice);
            if (subgroupAny(twice != 0u)) {
                // A key that was erased from one slot and inserted into another while they were read.
                inside &= ~twice;
                btree_ranks_of_any(n, inside, rank, twice);
            }
            uint here = tile_sum(uint(bitCount(inside)));
            uint fits = min(space, limit) - min(min(space, limit), walk.met);
            BTreePair least = BTreePair(0u, 0u);
            [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
                bool has = ((inside >> m) & 1u) != 0u;
                if (has && rank[m] == 0u) least = BTreePair(n.pair[m].x, n.pair[m].y);
                if (has && rank[m] < fits) {
                    plain_store(address_at(keys, to + walk.met + rank[m], 2u), n.pair[m].x);
                    plain_store(address_at(values, to + walk.met + rank[m], 2u), n.pair[m].y);
                }
            }
            least = BTreePair(tile_sum(least.key), tile_sum(least.value));   // one lane has it
            bool opens = walk.met == 0u && here != 0u;
            bool more = true;
            if (reads) more = btree_walk_on(fence, here, walk) && walk.met < limit;
            bool ends = busy && (!more || astray);
            bool mine = busy && tile_lane() == source;
            if (mine && opens) first = least;
            if (mine && (ends || reads)) {
                count = min(walk.met, limit);
                low = walk.low;
                leaf = walk.node;
            }
            if (mine && ends && !astray) {
                todo = false;
                status = STATUS_FOUND;
            }
            open &= ends ? open - 1u : ~0u;
            next = ends;
            round++;
        }
    }
    return status;
}

// The pair with the least key from one on, looked for as a range is: STATUS_FOUND, STATUS_ABSENT where there is none, or
// STATUS_PENDING. Collective.
uint btree_ceil(BTree tree, BTreePlace start, uint key, bool enabled, uint rounds, out BTreePair pair) {
    uint count;
    uint status = btree_range(tree, start, key, ~0u, enabled, uvec2(0u), uvec2(0u), 0u, 0u, 1u, rounds, count, pair);
    return status == STATUS_FOUND && count == 0u ? STATUS_ABSENT : status;
}

// The pair with the greatest key up to one, likewise. Collective.
uint btree_floor(BTree tree, BTreePlace start, uint key, bool enabled, uint rounds, out BTreePair pair) {
    uint status = STATUS_PENDING, round = 0u;
    bool todo = enabled;
    pair = BTreePair(0u, 0u);
    while (subgroupAny(todo) && round < rounds) {
        uint leaf = start.node, above = BTREE_ROOT;
        btree_descend(tree, key, 0u, todo && start.level != 0u, rounds, round, leaf, above);
        start = btree_anywhere();   // for who was led astray, or goes on to the left
        uint open = tile_ballot(todo && leaf != SLAB_NULL);
        while (subgroupAny(open != 0u) && round < rounds) {
            bool busy = open != 0u;
            uint source = uint(findLSB(open)) & (TILE - 1u);
            uint k = tile_shuffle(key, source);
            Node n;
            Fence fence;
            bool whole = btree_view(tree, tile_shuffle(leaf, source), busy, n, fence);
            bool astray = k < fence.low || btree_level(fence.meta) != 0u;
            bool right = k > fence.high;
            bool reads = busy && whole && !astray && !right;
            // One more than how far the nearest key is from ~0; 0: there is none.
            uint inside = reads ? btree_inside(n, fence.high, BTreeWalk(leaf, fence.low, k, 0u)) : 0u;
            uint near = ~0u, value = 0u;
            [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
                bool nearer = ((inside >> m) & 1u) != 0u && k - n.pair[m].x <= near;
                near = nearer ? k - n.pair[m].x : near;
                value = nearer ? n.pair[m].y : value;
            }
            bool any = tile_ballot(inside != 0u) != 0u;
            uint nearest = tile_min(inside != 0u ? near : ~0u);
            uint winner = tile_ballot(inside != 0u && near == nearest);
            uint its_value = tile_shuffle(value, uint(findLSB(winner)) & (TILE - 1u));
            bool mine = busy && tile_lane() == source;
            if (mine && reads && any) {
                pair = BTreePair(k - nearest, its_value);
                status = STATUS_FOUND;
            }
            if (mine && reads && !any && fence.low == 0u) status = STATUS_ABSENT;
            if (mine && reads && !any) key = fence.low - 1u;
            if (mine && whole && right) leaf = fence.link;
            if (mine) todo = status == STATUS_PENDING;
            bool ends = busy && whole && (astray || !right);
            open &= ends ? open - 1u : ~0u;
            round++;
        }
    }
    return status;
}

#endif
