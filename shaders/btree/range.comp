// Walks over the leaves of ranges: COUNT counts their pairs, WRITE writes them where the counts of all ranges say, WINDOW
// writes up to so many of each range to a place of its own, without knowing how many there are.
//
// A lane brings a range, or a part of one, and the tile walks over its lanes' ranges one after the other.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_walk.glsl"
#include "range_part.glsl"
#ifndef COUNT
#include "pair_stage.glsl"
#endif
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 ranges;       // two words a range: the least and the greatest key
    uvec2 leaves;       // a word a part: the leaf where it begins; SLAB_NULL: it is empty
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
    uint shift;         // log2 of the parts of a range
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
#endif
};

// Turns to the next lane's range, where `next`. Collective.
void turn(uint open, uint node, uvec2 range, uint place, bool next, inout BTreeWalk walk, inout uint to) {
    uint source = uint(findLSB(open)) & (TILE - 1u);
    uint its_node = tile_shuffle(node, source);
    uvec2 its_range = tile_shuffle(range, source);
    uint its_place = tile_shuffle(place, source);
    walk.node = next ? its_node : walk.node;
    walk.low = next ? its_range.x : walk.low;
    walk.high = next ? its_range.y : walk.high;
    walk.met = next ? 0u : walk.met;
    to = next ? its_place : to;
}

void main() {
    uint q = invocation_index();
    uvec2 range = uvec2(1u, 0u);
    uint node = SLAB_NULL, place = 0u;
    bool wanted = q < count;
#ifdef WRITE
    uvec2 pairs = plain_load2(total);
    wanted = wanted && pairs.y == 0u && pairs.x <= limit;
    if (wanted) place = plain_load_at(offsets, q);
#endif
#ifdef WINDOW
    place = q * width;
#endif
    if (wanted) {
        range = range_part(ranges, q, shift);
        node = plain_load_at(leaves, q);
    }
    bool enabled = node != SLAB_NULL;
    node = enabled ? node : BTREE_ROOT;   // to be read, and not looked at
    uint open = tile_ballot(enabled), to = 0u, result = 0u;
    BTreeWalk walk = BTreeWalk(BTREE_ROOT, 1u, 0u, 0u);
    turn(open, node, range, place, true, walk, to);
#ifdef COUNT
    uint visits = 0u;
#else
    Stage stage = stage_at(to);
#endif
#ifdef WINDOW
    const uint room = ~0u, most = width;
    const bool spare = (width & 3u) == 0u;
#endif
#ifdef WRITE
    // The ranges of a tile's lanes follow one another, and so do their pairs.
    const uint room = capacity, most = ~0u;
    const bool spare = false;
#endif
    Node n = node_load(slab_address(tree.pool, walk.node), true);
    while (subgroupAny(open != 0u)) {
        Fence fence = btree_fence(n);
        uint inside = btree_inside(n, fence.high, walk);
        uint pairs_here = tile_sum(uint(bitCount(inside)));
        uint met = walk.met;
        bool busy = open != 0u, more = btree_walk_on(fence, pairs_here, walk);
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
        if (mine) result = min(walk.met, width);
#endif
        uint from = to;
        open &= ends ? open - 1u : ~0u;
        turn(open, node, range, place, ends, walk, to);
        // The next leaf is read while this one's pairs are put in order.
        Node next = node_load(slab_address(tree.pool, walk.node), true);
#ifndef COUNT
        uint rank[16];
        btree_ranks(n, inside, rank);
        uint wanted_here = busy ? min(pairs_here, most - min(most, met)) : 0u;
        if (STAGED) stage_mark(stage, wanted_here);
        [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
            bool has = ((inside >> m) & 1u) != 0u && rank[m] < wanted_here;
            uint at = from + met + rank[m];
            if (has && STAGED) stage_put(stage, rank[m], n.pair[m]);
            if (has && !STAGED && at < room) {
                plain_store(address_at(out_keys, at, 2u), n.pair[m].x);
                plain_store(address_at(out_values, at, 2u), n.pair[m].y);
            }
        }
        if (STAGED) {
            stage.end += wanted_here;
#ifdef WINDOW
            stage_turn(stage, to, ends && spare);
            bool all = ends && (!spare || open == 0u);
#else
            bool all = ends && open == 0u;
#endif
            bool write = subgroupAny(stage_full(stage, BTREE_SLOTS));
            stage_write(out_keys, out_values, room, spare, write || all, all, stage);
            if (all) stage = stage_at(to);
        }
#endif
        n = next;
    }
#ifndef WRITE
    if (q < count) plain_store_at(counts, q, result);
#endif
}
