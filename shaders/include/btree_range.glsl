// B-link-tree range: range queries concurrent with updates. The function is collective, with one range per lane.
//
// Leaves are read one after the other, each at its own time (btree_view.glsl). So a range is not a snapshot: each pair
// returned was in the tree at some time during the call, and each pair that was in it during the whole call is
// returned. Keys ascend, and none is returned twice, even if it was erased from one slot and inserted into another
// during the read.
//
// The next leaf is read after the same fence as the second read of this leaf's header, by the link that the first read
// saw: one fence and one memory latency per leaf. So each leaf is also read after the link that leads to it.
//
// If a walk arrives at a node that is no leaf, or at a leaf with greater keys, it starts again at the root and goes on
// from the key where it was.
//
// Without atomics on pairs leaves are read one by one, by another loop, because SwiftShader's compiler takes minutes
// for the loop that reads the next leaf ahead.
#ifndef VKDS_BTREE_RANGE_GLSL
#define VKDS_BTREE_RANGE_GLSL

#include "btree.glsl"
#include "btree_prefix_index.glsl"
#include "btree_walk.glsl"
#include "pair_stage.glsl"
#include "btree_view.glsl"
#ifdef VKDS_CLOCK
#include "btree_clock.glsl"
#endif

// With VKDS_CLOCK the functions here and those of btree_neighbor.glsl have another parameter, after the tree: the time
// of the read. It is a snapshot's (btree_snapshot), the same for all lanes of a tile, or BTREE_NEWEST. The functions
// find what was in the tree at that time.
#ifdef VKDS_CLOCK
#define VKDS_TIME time,
#define VKDS_TIME_PARAMETER uint time,
#define VKDS_BTREE_VIEW(TREE, SLAB, BUSY, BUDGET, VISITS, N, HEADER) \
    btree_view_at(TREE, SLAB, time, BUSY, BUDGET, VISITS, N, HEADER)
#else
#define VKDS_TIME
#define VKDS_TIME_PARAMETER
#define VKDS_BTREE_VIEW(TREE, SLAB, BUSY, BUDGET, VISITS, N, HEADER) \
    btree_view(slab_address((TREE).pool, SLAB), BUSY, N, HEADER)
#endif

// A pair of a range.
struct BTreePair {
    K key;
    V value;
};

// A lane's range and its progress: `count` pairs were met, and the rest of the range begins at low.
struct BTreeRange {
    bool todo;
    K low;
    K high;
    uint place;
    uint room;
    uint most;
    uint count;
    BTreePair first;
};

// The walk of a tile over one lane's range. The same for all lanes of the tile.
struct BTreeRangeTurn {
    BTreeWalk walk;
    uint place;
    uint room;
    uint most;
};

// The turn of the first lane of a ballot, starting at that lane's leaf. Collective.
BTreeRangeTurn btree_range_turn(uint open, uint leaf, BTreeRange r) {
    uint source = tile_first(open);
    BTreeWalk walk = BTreeWalk(tile_shuffle(leaf, source), tile_shuffle(r.low, source), tile_shuffle(r.high, source),
                               tile_shuffle(r.count, source));
    return BTreeRangeTurn(walk, tile_shuffle(r.place, source), tile_shuffle(r.room, source),
                          tile_shuffle(r.most, source));
}

// The number of further pairs of a turn that there is room for.
uint btree_range_room(BTreeRangeTurn turn) { return turn.room - min(turn.room, turn.walk.met); }

// Ends a lane's turn. Its range is then done, unless the walk went astray.
void btree_range_end(BTreeWalk walk, bool astray, inout BTreeRange r) {
    r.count = min(walk.met, r.most);
    r.low = walk.low;
    r.todo = astray;
}

// The part of a walk's range that is in its current leaf.
struct BTreeShare {
    bool astray;   // the leaf isn't one of the walk, and has nothing of its range
    uint inside;   // the mask of this lane's pairs inside the range
    uint pairs;    // the number of such pairs in the tile
    uint below;    // the number of the tile's pairs with keys below the range
};

// Collective.
BTreeShare btree_share(Node n, NodeHeader header, bool busy, BTreeWalk walk) {
    // It is astray if a side link that is older than the high read with it has led too far right.
    bool astray = VKDS_BELOW(walk.low, header.low) || btree_level(header.meta) != 0u;
    uint inside = busy && !astray ? btree_inside(n, header.high, walk) : 0u;
    uvec2 sums = btree_sums(n, inside, walk.low);
    return BTreeShare(astray, inside, sums.x, sums.y);
}

// The pair of rank 0, for all lanes of the tile, or 0 and 0 if no pair is inside. Collective.
BTreePair btree_least(Node n, uint inside, uvec2 ranks) {
    BTreePair least = BTreePair(K(0u), V(0u));
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
        if (((inside >> m) & 1u) != 0u && btree_rank(ranks, m) == 0u) {
            least = BTreePair(n.pair[m].VKDS_KEY, n.pair[m].VKDS_VALUE);
        }
    }
    return BTreePair(tile_sum(least.key), tile_sum(least.value));   // one lane has it
}

// Whether whole quads may be written, because the places of all ranges are whole quads.
bool btree_range_spare(BTreeRange r) { return subgroupAll(!r.todo || ((r.count | r.place | r.room) & 3u) == 0u); }

// Puts a lane's pairs of the current leaf that are inside the range into the stage, if their rank is below `fits`.
void btree_range_put(uvec2 keys, uvec2 values, Node n, uint inside, uvec2 ranks, uint fits, inout Stage stage) {
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
        uint rank = btree_rank(ranks, m);
        if (((inside >> m) & 1u) != 0u && rank < fits) pair_put(keys, values, ~0u, stage, rank, n.pair[m]);
    }
    stage.end += fits;
}

// If `turns`, moves the tile's stage to `place` for the next turn, with `over` places of the turn before left over.
// Writes the stages of all tiles if one of them is full, or if `last`. Writing is done in this function alone, because
// its code is large. Collective.
void btree_range_write(uvec2 keys, uvec2 values, uint place, uint over, bool turns, bool last, bool spare,
                       inout Stage stage) {
    bool all = !stage_turn(stage, place, over, turns), write = subgroupAny(stage_full(stage, BTREE_SLOTS));
    if (STAGED) stage_write(keys, values, ~0u, spare, write || all || last, all || last, stage);
    if (all) stage = stage_at(place);
}

#if VKDS_LEAF_ATOMICS
// Computes the ranks of a leaf's pairs. Returns whether all pairs inside the range have different ranks. Collective.
bool btree_ranks(Node n, BTreeShare share, out uvec2 ranks) {
    ranks = btree_ranks_in_order(share.below);
    if (subgroupAll(btree_in_order(n))) return true;   // the common case
    ranks = btree_ranks_compared(n, share.inside);
    return btree_ranks_distinct(ranks, share.inside, share.pairs);
}

// Walks the ranges of a tile's lanes one after the other, each from its lane's leaf on. Lanes without a leaf
// (SLAB_NULL) are skipped. Collective.
void btree_range_leaves(BTree tree, uint leaf, uvec2 keys, uvec2 values, uint budget, inout uint visits,
                        inout BTreeRange r) {
    uint open = tile_ballot(r.todo && leaf != SLAB_NULL);
    bool spare = btree_range_spare(r);
    BTreeRangeTurn turn = btree_range_turn(open, leaf, r);
    Stage stage = stage_at(turn.place + turn.walk.met);
    uvec2 address = slab_address(tree.pool, turn.walk.node);
    acquire_fence();
    Node n = leaf_load(address, open != 0u);
    while (subgroupAny(open != 0u) && visits < budget) {
        bool busy = open != 0u, first_lane = tile_lane() == tile_first(open);
        NodeHeader seen = btree_header(n);
        BTreeShare share = btree_share(n, seen, busy, turn.walk);

        // The next step if the read turns out valid: the next leaf, or the next lane's range. If the node isn't a leaf
        // of the walk, the walk doesn't move.
        BTreeRangeTurn on = turn;
        bool more = !share.astray && btree_walk_on(seen, share.pairs, on.walk) && on.walk.met < turn.most;
        bool ends = busy && !more;
        BTreeWalk walked = on.walk;
        uint rest = ends ? open & (open - 1u) : open;
        BTreeRangeTurn other = btree_range_turn(rest, leaf, r);
        uint its_place = other.place + other.walk.met;
        if (ends) on = other;
        uvec2 next_address = slab_address(tree.pool, on.walk.node);
        acquire_fence();
        uvec4 again = uvec4(0u);
        if (busy) again = coherent_load4(address_add(address, BTREE_META_AT));
        Node next = leaf_load(next_address, rest != 0u);

        uvec2 ranks;
        bool distinct = btree_ranks(n, share, ranks);
        bool right = leaf_stands(seen, again) && distinct && busy;
        uint fits = right ? min(share.pairs, btree_range_room(turn)) : 0u;
        btree_range_put(keys, values, n, share.inside, ranks, fits, stage);
        BTreePair least = btree_least(n, share.inside, ranks);
        if (right && first_lane && turn.walk.met == 0u && share.pairs != 0u) r.first = least;
        ends = ends && right;
        if (ends && first_lane) btree_range_end(walked, share.astray, r);
        uint over = share.astray ? 0u : turn.room - min(turn.room, min(walked.met, turn.most));
        if (right) {
            open = rest;
            turn = on;
            address = next_address;
            n = next;
        }
        spare = spare && !(ends && share.astray);   // it is going to be continued
        visits++;
        bool last = !subgroupAny(open != 0u) || visits >= budget;
        btree_range_write(keys, values, its_place, over, ends && rest != 0u, last, spare, stage);
        bool rereads = busy && !right;
        if (subgroupAny(rereads)) {
            next = leaf_once(leaf_load(address, rereads));
            if (rereads) n = next;
        }
    }
}
#else
void btree_range_leaves(BTree tree, VKDS_TIME_PARAMETER uint leaf, uvec2 keys, uvec2 values, uint budget,
                        inout uint visits, inout BTreeRange r) {
    uint open = tile_ballot(r.todo && leaf != SLAB_NULL);
    bool spare = btree_range_spare(r);
    BTreeRangeTurn turn = btree_range_turn(open, leaf, r);
    Stage stage = stage_at(turn.place + turn.walk.met);
    while (subgroupAny(open != 0u) && visits < budget) {
        bool busy = open != 0u, first_lane = busy && tile_lane() == tile_first(open);
        Node n;
        NodeHeader header;
        bool right = VKDS_BTREE_VIEW(tree, turn.walk.node, busy, budget, visits, n, header) && busy;
        bool in_order = subgroupAll(btree_in_order(n));
#ifndef VKDS_CLOCK
        if (!in_order) n = leaf_once(n);
#endif
        BTreeShare share = btree_share(n, header, right, turn.walk);
        uvec2 ranks = btree_ranks_in_order(share.below);
        if (!in_order) ranks = btree_ranks_compared(n, share.inside);

        uint fits = min(share.pairs, btree_range_room(turn));
        btree_range_put(keys, values, n, share.inside, ranks, fits, stage);
        BTreePair least = btree_least(n, share.inside, ranks);
        if (first_lane && turn.walk.met == 0u && share.pairs != 0u) r.first = least;
        bool more = !share.astray;
        if (right && more) more = btree_walk_on(header, share.pairs, turn.walk) && turn.walk.met < turn.most;
        bool ends = right && !more;
        if (ends && first_lane) btree_range_end(turn.walk, share.astray, r);
        uint over = share.astray ? 0u : turn.room - min(turn.room, min(turn.walk.met, turn.most));
        open &= ends ? open - 1u : ~0u;
        BTreeRangeTurn other = btree_range_turn(open, leaf, r);
        uint its_place = other.place + other.walk.met;
        if (ends) turn = other;
        visits++;
        spare = spare && !(ends && share.astray);   // it is going to be continued
        bool last = !subgroupAny(open != 0u) || visits >= budget;
        btree_range_write(keys, values, its_place, over, ends && open != 0u, last, spare, stage);
    }
}
#endif

// Finds the pairs with keys from low to high, at most `most`. The search starts at `start`, a node whose low is not
// above `low`: btree_prefix_start, or btree_anywhere. `count` becomes the number of pairs, and `first` the first one,
// or 0 and 0. The first `room` pairs are written to the arrays `keys` and `values`, which are aligned to 16 bytes, from
// the index `place` on. The rest of the room may be written with anything. `budget` is the number of nodes that a tile
// may visit. Returns STATUS_FOUND, or STATUS_PENDING if the budget was used up; the results are then not valid.
// Collective. Tiles of 2 or more lanes use the shared memory of pair_stage.glsl.
uint btree_range(BTree tree, VKDS_TIME_PARAMETER BTreePlace start, K low, K high, bool enabled, uvec2 keys,
                 uvec2 values, uint place, uint room, uint most, uint budget, out uint count, out BTreePair first) {
    bool todo = enabled && VKDS_UP_TO(low, high) && most != 0u;
    BTreeRange r = BTreeRange(todo, low, high, place, min(room, most), most, 0u, BTreePair(K(0u), V(0u)));
    uint visits = 0u;
    while (subgroupAny(r.todo) && visits < budget) {
        uint leaf = start.node, above = tree.root;
        btree_descend(tree, r.low, 0u, r.todo && start.level != 0u, budget, visits, leaf, above);
        start = btree_anywhere(tree);   // for lanes whose walk went astray
        btree_range_leaves(tree, VKDS_TIME leaf, keys, values, budget, visits, r);
        if (subgroupAny(r.todo)) acquire_fence();   // words that were too old have led there
    }
    count = r.count;
    first = r.first;
    return enabled && !r.todo ? STATUS_FOUND : STATUS_PENDING;
}

#ifdef VKDS_CLOCK
// Finds a key's value at a time. The arguments are those of btree_range. Returns STATUS_FOUND, STATUS_ABSENT or
// STATUS_PENDING. Collective.
uint btree_find_at(BTree tree, uint time, BTreePlace start, K key, bool enabled, uint budget, out V value) {
    uint count;
    BTreePair pair;
    uint status =
        btree_range(tree, time, start, key, key, enabled, uvec2(0u), uvec2(0u), 0u, 0u, 1u, budget, count, pair);
    value = pair.value;
    return status == STATUS_FOUND && count == 0u ? STATUS_ABSENT : status;
}
#endif

#endif
