// Ranges: finds the pairs of ranges in a read-only phase. btree_range.glsl does it concurrent with updates.
//
// Tiles of 2 or more lanes use the shared memory of pair_stage.glsl.
#ifndef VKDS_RANGES_GLSL
#define VKDS_RANGES_GLSL

#include "btree_search.glsl"
#include "btree_version.glsl"
#include "btree_walk.glsl"
#include "pair_stage.glsl"
#include "range_turn.glsl"

const uint BTREE_COUNT = ~0u;   // as `most`: pairs are counted, and not written

// A lane's range, and where its pairs go.
struct BTreeList {
    uint leaf;    // where the range begins (btree_seek), or any leaf to the left
    P range;      // the least and the greatest key
    uint place;   // the index of the first pair in the arrays
    uint most;    // the walk ends behind so many pairs; the rest of their places may be written with anything
};

// The walk of a tile over one lane's range. The same for all lanes of the tile.
struct BTreeListTurn {
    BTreeWalk walk;
    uint place;
    uint most;
};

// If `next`, turns to the next lane's range. Collective.
void btree_list_turn(uint open, BTreeList l, bool next, inout BTreeListTurn t) {
    uint source = tile_first(open);
    uint place = tile_shuffle(l.place, source), most = tile_shuffle(l.most, source);
    turn(open, l.leaf, l.range, next, t.walk);
    t.place = next ? place : t.place;
    t.most = next ? most : t.most;
}

// Finds the pairs of each enabled lane's range and writes them to the arrays `keys` and `values`, in order. `count`
// becomes their number, at most l.most. `spare` promises that places and l.most are multiples of 4 (at 64 bits of 2). A
// tile visits up to `budget` leaves. Returns false for lanes whose range was not done by then. Collective over the
// subgroup.
bool btree_list(BTree tree, BTreeList l, bool enabled, bool spare, uvec2 keys, uvec2 values, uint budget,
                out uint count) {
    const uint ROOM = ~0u;
    count = 0u;
    l.leaf = enabled ? l.leaf : tree.root;   // it is read, but the result is not used
    uint open = tile_ballot(enabled);
    BTreeListTurn t;
    btree_list_turn(open, l, true, t);
    Stage stage = stage_at(t.place);
    Node n = btree_walk_load(tree, t.walk.node, true);
    for (; subgroupAny(open != 0u && budget != 0u); budget--) {
        bool busy = open != 0u, mine = busy && tile_first(open) == tile_lane();
        NodeHeader header = btree_header(n);
        uint inside = btree_inside(n, header.high, t.walk);
        uvec2 sums = btree_sums(n, inside, t.walk.low);
        uint room = t.most == BTREE_COUNT ? 0u : t.most;
        uint wanted = busy ? min(sums.x, room - min(room, t.walk.met)) : 0u;
        bool more = btree_walk_on(header, sums.x, t.walk) && t.walk.met < t.most;
        bool ends = !more && busy;
        uint met = min(t.walk.met, t.most);
        if (mine && ends) count = met;
        uint over = room - min(room, met);
        open &= ends ? open - 1u : ~0u;
        btree_list_turn(open, l, ends, t);
        // The next leaf is loaded while this one's pairs are put in order.
        Node next = btree_walk_load(tree, t.walk.node, true);
        // The slots of most leaves are in order. Those inside are then consecutive.
        uint rank[NODE_LANE_PAIRS];
        if (subgroupAll(btree_in_order(n))) {
            [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) rank[m] = node_pair_index(m) - sums.y;
        } else {
            uvec2 ranks = btree_ranks_compared(n, inside);
            [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) rank[m] = btree_rank(ranks, m);
        }
        [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++)
            if (((inside >> m) & 1u) != 0u && rank[m] < wanted) pair_put(keys, values, ROOM, stage, rank[m], n.pair[m]);
        stage.end += wanted;
        bool all = !stage_turn(stage, t.place, over, ends && open != 0u);
        // There is only one call in the code: if a stage is full, everything is written, and also at the end. If the
        // budget ends first, the stages still have pairs of ranges that are done.
        bool write = subgroupAny(stage_full(stage, BTREE_SLOTS)), end = !subgroupAny(open != 0u) || budget == 1u;
        if (STAGED) stage_write(keys, values, ROOM, spare, write || all || end, all || end, stage);
        if (all) stage = stage_at(t.place);
        n = next;
    }
    return !enabled || (open >> tile_lane() & 1u) == 0u;
}

#endif
