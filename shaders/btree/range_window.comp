// Writes the first pairs of each range to the range's window, up to the window's size, without counting them before. It
// walks over the ranges' leaves (range_turn.glsl).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_search.glsl"
#include "btree_version.glsl"
#include "btree_walk.glsl"
#include "length.glsl"
#include "range_part.glsl"
#include "pair_stage.glsl"
#include "invocation.glsl"
#include "range_turn.glsl"

layout(constant_id = 17) const uint NUMBERED = 0;   // 1: the ranges are not in their original order

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 ranges;       // two keys per range: the least and the greatest key
    BTreePrefixIndex index;   // where the search for the leaves begins
    uvec2 counts;       // output, one word per range: its number of pairs
    uvec2 out_keys;
    uvec2 out_values;
    Length count;       // the number of ranges
    uint width;         // the size of a window; a range's window begins at this times its index
    uvec2 sources;      // if NUMBERED: one word per range, its original index
};

// The index of the range that the tile is at, from the lanes' indices. Collective.
uint range_number(uint number, uint open) {
    uint source = tile_first(open);
    return NUMBERED != 0u ? tile_shuffle(number, source) : number - tile_lane() + source;
}

void main() {
    uint q = invocation_index(), end = length_of(count);
    P range = P(VKDS_ONE, K(0u));
    uint node = SLAB_NULL;
    bool wanted = q < end;
    if (wanted) range = VKDS_SLOT_LOAD(address_at(ranges, q, VKDS_SHIFT + 1u));
    bool enabled = VKDS_UP_TO(range.VKDS_KEY, range.VKDS_VALUE);
    uint above;
    node = btree_seek(tree, index, range.VKDS_KEY, enabled, above);
    node = enabled ? node : tree.root;   // it is read, but the result is not used
    uint open = tile_ballot(enabled), result = 0u;
    BTreeWalk walk = BTreeWalk(tree.root, VKDS_ONE, K(0u), 0u);
    turn(open, node, range, true, walk);
    const uint room = ~0u;
    const bool spare = (width & (VKDS_PER_QUAD - 1u)) == 0u;
    uint number = q;
    if (NUMBERED != 0u && wanted) number = plain_load_at(sources, q);
    Stage stage = stage_at(range_number(number, open) * width);
    Node n = btree_walk_load(tree, walk.node, true);
    for (uint visited = node_visits(tree.pool.blocks); subgroupAny(open != 0u && visited != 0u); visited--) {
        NodeHeader header = btree_header(n);
        uint inside = btree_inside(n, header.high, walk);
        uvec2 sums = btree_sums(n, inside, walk.low);
        uint pairs_here = sums.x;
        bool busy = open != 0u;
        uint wanted_here = busy ? min(pairs_here, width - walk.met) : 0u;
        bool more = btree_walk_on(header, pairs_here, walk);
        more = more && walk.met < width;
        bool ends = !more && busy;
        bool mine = ends && tile_first(open) == tile_lane();
        uint result_here = min(walk.met, width);
        if (mine) result = result_here;
        open &= ends ? open - 1u : ~0u;
        turn(open, node, range, ends, walk);
        // The next leaf is loaded while this one's pairs are put in order.
        Node next = btree_walk_load(tree, walk.node, true);
        // The slots of most leaves are in order. Those inside are then consecutive.
        uint rank[NODE_LANE_PAIRS];
        if (subgroupAll(btree_in_order(n))) {
            [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) rank[m] = node_pair_index(m) - sums.y;
        } else {
            uvec2 ranks = btree_ranks_compared(n, inside);
            [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) rank[m] = btree_rank(ranks, m);
        }
        [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++)
            if (((inside >> m) & 1u) != 0u && rank[m] < wanted_here)
                pair_put(out_keys, out_values, room, stage, rank[m], n.pair[m]);
        stage.end += wanted_here;
        bool all = false;
        uint place = range_number(number, open) * width;
        all = !stage_turn(stage, place, width - result_here, ends && open != 0u);
        // There is only one call in the code: if a stage is full, everything is written, and also at the end.
        bool write = subgroupAny(stage_full(stage, BTREE_SLOTS)), end = !subgroupAny(open != 0u);
        if (STAGED) stage_write(out_keys, out_values, room, spare, write || all || end, all || end, stage);
        if (all) stage = stage_at(place);
        n = next;
    }
    if (q < end) plain_store_at(counts, q, result);
}
