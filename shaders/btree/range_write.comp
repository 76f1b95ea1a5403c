// Writes the pairs of ranges to the places that the counts determine. It walks over the ranges' leaves
// (range_turn.glsl).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_version.glsl"
#include "btree_walk.glsl"
#include "range_part.glsl"
#include "pair_stage.glsl"
#include "invocation.glsl"
#include "range_turn.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 ranges;       // two keys per range: the least and the greatest key
    uvec2 leaves;       // one word per part: the leaf where it begins; SLAB_NULL if it is empty
    uvec2 offsets;      // one word per part: the index of its first pair
    uvec2 total;        // two words: the number of pairs of all parts
    uvec2 out_keys;
    uvec2 out_values;
    uint count;         // the number of parts of all ranges
    uint shift;         // log2 of the number of parts per range
    uint limit;         // if there are more pairs, the kernel does nothing
    uint capacity;      // pairs beyond it are not written
};

void main() {
    uint q = invocation_index();
    P range = P(VKDS_ONE, K(0u));
    uint node = SLAB_NULL;
    bool wanted = q < count;
    uvec2 pairs = plain_load2(total);
    wanted = wanted && pairs.y == 0u && pairs.x <= limit;
    uint place = 0u;
    if (wanted) place = plain_load_at(offsets, q);
    if (wanted) {
        range = range_part(ranges, q, shift);
        node = plain_load_at(leaves, q);
    }
    bool enabled = node != SLAB_NULL;
    node = enabled ? node : tree.root;   // it is read, but the result is not used
    uint open = tile_ballot(enabled), result = 0u;
    BTreeWalk walk = BTreeWalk(tree.root, VKDS_ONE, K(0u), 0u);
    turn(open, node, range, true, walk);
    // The ranges of a tile's lanes are consecutive, and so are their pairs.
    const uint room = capacity;
    const bool spare = false;
    Stage stage = stage_at(tile_shuffle(place, tile_first(open)));
    Node n = btree_walk_load(tree, walk.node, true);
    for (uint visited = node_visits(tree.pool.blocks); subgroupAny(open != 0u && visited != 0u); visited--) {
        NodeHeader header = btree_header(n);
        uint inside = btree_inside(n, header.high, walk);
        uvec2 sums = btree_sums(n, inside, walk.low);
        uint pairs_here = sums.x;
        bool busy = open != 0u;
        uint wanted_here = busy ? pairs_here : 0u;
        bool more = btree_walk_on(header, pairs_here, walk);
        bool ends = !more && busy;
        bool mine = ends && tile_first(open) == tile_lane();
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
        // There is only one call in the code: if a stage is full, everything is written, and also at the end.
        bool write = subgroupAny(stage_full(stage, BTREE_SLOTS)), end = !subgroupAny(open != 0u);
        if (STAGED) stage_write(out_keys, out_values, room, spare, write || all || end, all || end, stage);
        n = next;
    }
}
