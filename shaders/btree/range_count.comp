// Counts the pairs of ranges, by walks over their leaves (range_turn.glsl).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_version.glsl"
#include "btree_walk.glsl"
#include "range_part.glsl"
#include "invocation.glsl"
#include "range_turn.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 ranges;       // two keys per range: the least and the greatest key
    uvec2 leaves;       // one word per part: the leaf where it begins; SLAB_NULL if it is empty
    uvec2 counts;       // output, one word per part: its number of pairs
    uvec2 total;        // two words; bit 31 of the second one is set if a part is too long. 0: not wanted
    uint count;         // the number of parts of all ranges
    uint shift;         // log2 of the number of parts per range
    uint leaves_most;   // a part with more leaves is too long
    uint too_long;      // the count of a part that is too long
};

void main() {
    uint q = invocation_index();
    P range = P(VKDS_ONE, K(0u));
    uint node = SLAB_NULL;
    bool wanted = q < count;
    if (wanted) {
        range = range_part(ranges, q, shift);
        node = plain_load_at(leaves, q);
    }
    bool enabled = node != SLAB_NULL;
    node = enabled ? node : tree.root;   // it is read, but the result is not used
    uint open = tile_ballot(enabled), result = 0u;
    BTreeWalk walk = BTreeWalk(tree.root, VKDS_ONE, K(0u), 0u);
    turn(open, node, range, true, walk);
    // No part has more leaves than the pool has slabs, unless links form a cycle.
    uint most = min(leaves_most, (tree.pool.blocks << 11) + 64u), visits = 0u;
    Node n = btree_walk_load(tree, walk.node, true);
    while (subgroupAny(open != 0u)) {
        NodeHeader header = btree_header(n);
        uint inside = btree_inside(n, header.high, walk);
        uvec2 sums = btree_sums(n, inside, walk.low);
        uint pairs_here = sums.x;
        bool busy = open != 0u;
        uint wanted_here = busy ? pairs_here : 0u;
        bool more = btree_walk_on(header, pairs_here, walk);
        visits++;
        bool stopped = more && visits >= most;
        more = more && !stopped;
        bool ends = !more && busy;
        bool mine = ends && tile_first(open) == tile_lane();
        if (mine) {
            result = stopped ? too_long : walk.met;
            if (stopped && (total.x | total.y) != 0u) atomic_or(address_add(total, 4u), 1u << 31);
        }
        visits = ends ? 0u : visits;
        open &= ends ? open - 1u : ~0u;
        turn(open, node, range, ends, walk);
        Node next = btree_walk_load(tree, walk.node, true);
        n = next;
    }
    if (q < count) plain_store_at(counts, q, result);
}
