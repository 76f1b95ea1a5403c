// Walks over the leaves of ranges: COUNT counts their pairs, WRITE writes them where the counts of all ranges say, WINDOW
// writes up to so many of each range to a place of its own, without knowing how many there are.
//
// A lane brings a range, or a part of one, and the tile walks over its lanes' ranges one after the other.
#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef WINDOW
#include "btree_search.glsl"
#endif
#include "btree_walk.glsl"
#include "range_part.glsl"
#ifndef COUNT
#include "pair_stage.glsl"
#endif
#include "invocation.glsl"

#ifdef WINDOW
layout(constant_id = 17) const uint NUMBERED = 0;   // 1: the ranges don't stand in the order of their numbers
#endif

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 ranges;       // two words a range: the least and the greatest key
#ifdef WINDOW
    BTreeTop top;       // where the search for the leaves begins
#else
    uvec2 leaves;       // a word a part: the leaf where it begins; SLAB_NULL: it is empty
#endif
#ifdef WRITE
    uvec2 offsets;      // a word a part: the number of its first pair
    uvec2 total;        // two words: the pairs of all parts
#else
    uvec2 counts;       // a word a part, out: its pairs
#endif
#ifdef COUNT
    uvec2 total;        // two words; the high one's bit 31 is set where a part is too long. 0: not wanted
#else
    uvec2 out_keys;
    uvec2 out_values;
#endif
    uint count;         // parts of all ranges
#ifndef WINDOW
    uint shift;         // log2 of the parts of a range
#endif
#ifdef COUNT
    uint leaves_most;   // a part of more leaves is too long
    uint too_long;      // what is its count then
#endif
#ifdef WRITE
    uint limit;         // nothing is done if there are more pairs
    uint capacity;      // later pairs are not written
#endif
#ifdef WINDOW
    uint width;         // the pairs of a part begin at this times its number, and are at most so many
    uvec2 numbers;      // NUMBERED: a word a range
#endif
};

// Turns to the next lane's range, where `next`. Collective.
void turn(uint open, uint node, uvec2 range, bool next, inout BTreeWalk walk) {
    uint source = uint(findLSB(open)) & (TILE - 1u);
    uint its_node = tile_shuffle(node, source);
    uvec2 its_range = tile_shuffle(range, source);
    walk.node = next ? its_node : walk.node;
    walk.low = next ? its_range.x : walk.low;
    walk.high = next ? its_range.y : walk.high;
    walk.met = next ? 0u : walk.met;
}

#ifdef WINDOW
// The number of the range that the tile is at, of the lanes' numbers. Collective.
uint range_number(uint number, uint open) {
    uint source = uint(findLSB(open)) & (TILE - 1u);
    return NUMBERED != 0u ? tile_shuffle(number, source) : number - tile_lane() + source;
}
#endif

void main() {
    uint q = invocation_index();
    uvec2 range = uvec2(1u, 0u);
    uint node = SLAB_NULL;
    bool wanted = q < count;
#ifdef WRITE
    uvec2 pairs = plain_load2(total);
    wanted = wanted && pairs.y == 0u && pairs.x <= limit;
    uint place = 0u;
    if (wanted) place = plain_load_at(offsets, q);
#endif
#ifdef WINDOW
    if (wanted) range = plain_load2(address_at(ranges, q, 3u));
    bool enabled = range.x <= range.y;
    uint above;
    node = btree_seek(tree, top, range.x, enabled, above);
#else
    if (wanted) {
        range = range_part(ranges, q, shift);
        node = plain_load_at(leaves, q);
    }
    bool enabled = node != SLAB_NULL;
#endif
    node = enabled ? node : BTREE_ROOT;   // to be read, and not looked at
    uint open = tile_ballot(enabled), result = 0u;
    BTreeWalk walk = BTreeWalk(BTREE_ROOT, 1u, 0u, 0u);
    turn(open, node, range, true, walk);
#ifdef COUNT
    uint visits = 0u;
#endif
#ifdef WINDOW
    const uint room = ~0u;
    const bool spare = (width & 3u) == 0u;
    uint number = q;
    if (NUMBERED != 0u && wanted) number = plain_load_at(numbers, q);
    Stage stage = stage_at(range_number(number, open) * width);
#endif
#ifdef WRITE
    // The ranges of a tile's lanes follow one another, and so do their pairs.
    const uint room = capacity;
    const bool spare = false;
    Stage stage = stage_at(tile_shuffle(place, uint(findLSB(open)) & (TILE - 1u)));
#endif
    Node n = node_load(slab_address(tree.pool, walk.node), true);
    for (uint visited = node_visits(tree.pool.blocks); subgroupAny(open != 0u && visited != 0u); visited--) {
        Fence fence = btree_fence(n);
        uint inside = btree_inside(n, fence.high, walk);
        uvec2 sums = btree_sums(n, inside, walk.low);
        uint pairs_here = sums.x;
        bool busy = open != 0u;
#ifdef WINDOW
        uint wanted_here = busy ? min(pairs_here, width - walk.met) : 0u;
#else
        uint wanted_here = busy ? pairs_here : 0u;
#endif
        bool more = btree_walk_on(fence, pairs_here, walk);
#ifdef COUNT
        visits++;
        bool stopped = more && visits >= leaves_most;
        more = more && !stopped;
#endif
#ifdef WINDOW
        more = more && walk.met < width;
#endif
        bool ends = !more && busy;
        bool mine = ends && (uint(findLSB(open)) & (TILE - 1u)) == tile_lane();
#ifdef COUNT
        if (mine) {
            result = stopped ? too_long : walk.met;
            if (stopped && (total.x | total.y) != 0u) atomic_or(address_add(total, 4u), 1u << 31);
        }
        visits = ends ? 0u : visits;
#endif
#ifdef WINDOW
        uint result_here = min(walk.met, width);
        if (mine) result = result_here;
#endif
        open &= ends ? open - 1u : ~0u;
        turn(open, node, range, ends, walk);
        // The next leaf is read while this one's pairs are put in order.
        Node next = node_load(slab_address(tree.pool, walk.node), true);
#ifndef COUNT
        // The slots of most leaves are in order, and then those inside follow one another.
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
#ifdef WINDOW
        uint place = range_number(number, open) * width;
        all = !stage_turn(stage, place, width - result_here, ends && open != 0u);
#endif
        // From one place in the code: a stage that is full has all be written, and so has the end.
        bool write = subgroupAny(stage_full(stage, BTREE_SLOTS)), end = !subgroupAny(open != 0u);
        if (STAGED) stage_write(out_keys, out_values, room, spare, write || all || end, all || end, stage);
#ifdef WINDOW
        if (all) stage = stage_at(place);
#endif
#endif
        n = next;
    }
#ifndef WRITE
    if (q < count) plain_store_at(counts, q, result);
#endif
}
