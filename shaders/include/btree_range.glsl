// Ranges of a B-link-tree, concurrent with updates: a collective function, a range a lane.
//
// Leaves are read one after the other, each at a moment of its own (btree_view.glsl). So a range is not one moment:
// each pair of it was there at some time of the call, and what was there all the time is in it; keys ascend, and none
// comes twice.
//
// The next leaf is read behind the same fence as the second look at this one, from the link that the first look saw:
// one fence a leaf, and one wait. So each leaf is read behind the reading of the link which leads there, too.
//
// Who is led astray, to a node that is no leaf or to one for greater keys, begins again at the root and keeps its
// place. A key that was erased from one slot and inserted into another while they were read is met once.
//
// Without 64-bit atomics leaves are read one by one, and pairs written as they are, since SwiftShader's compiler takes
// minutes over the other loop.
#ifndef VKDS_BTREE_RANGE_GLSL
#define VKDS_BTREE_RANGE_GLSL

#include "btree.glsl"
#include "btree_prefix_index.glsl"
#include "btree_walk.glsl"
#if VKDS_INT64_ATOMICS
#include "pair_stage.glsl"
#endif
#include "btree_view.glsl"

// A pair that a range has.
struct BTreePair {
    uint key;
    uint value;
};

// The pairs from low to high, at most so many, looked for from a node on whose low is not above `low`
// (btree_prefix_start's, or btree_anywhere): their number, and the first of them, 0 and 0 where there is none. The
// first `room` of them are written to two arrays (aligned to 16 bytes), from a place of them on; what of the room is
// left may be written with anything. STATUS_FOUND; STATUS_PENDING where the budget (of node visits by the tile) was
// used up, and then what was written means nothing. Collective. Tiles of 2 lanes and more take the shared memory of
// pair_stage.glsl.
#if VKDS_INT64_ATOMICS
uint btree_range(BTree tree, BTreePlace start, uint low, uint high, bool enabled, uvec2 keys, uvec2 values, uint place,
                 uint room, uint most, uint budget, out uint count, out BTreePair first) {
    room = min(room, most);
    bool todo = enabled && low <= high && most != 0u;
    uint status = enabled && !todo ? STATUS_FOUND : STATUS_PENDING;
    uint visits = 0u;
    count = 0u;
    first = BTreePair(0u, 0u);
    while (subgroupAny(todo) && visits < budget) {
        uint leaf = start.node, above = tree.root;
        btree_descend(tree, low, 0u, todo && start.level != 0u, budget, visits, leaf, above);
        start = btree_anywhere(tree);   // for who was led astray
        uint open = tile_ballot(todo && leaf != SLAB_NULL);
        // Whole quads may be written where all ranges have whole quads.
        bool spare = subgroupAll(!todo || ((count | place | room) & 3u) == 0u);
        uint source = uint(findLSB(open)) & (TILE - 1u);
        BTreeWalk walk = BTreeWalk(tile_shuffle(leaf, source), tile_shuffle(low, source), tile_shuffle(high, source),
                                   tile_shuffle(count, source));
        uint space = tile_shuffle(room, source), limit = tile_shuffle(most, source);
        Stage stage = stage_at(tile_shuffle(place + count, source));
        uvec2 address = slab_address(tree.pool, walk.node);
        acquire_fence();
        Node n = leaf_load(address, open != 0u);
        while (subgroupAny(open != 0u) && visits < budget) {
            bool busy = open != 0u;
            NodeHeader seen = btree_header(n);
            // A side link that is older than the high before it has led too far to the right.
            bool astray = walk.low < seen.low || btree_level(seen.meta) != 0u;
            uint inside = busy && !astray ? btree_inside(n, seen.high, walk) : 0u;
            uvec2 sums = btree_sums(n, inside, walk.low);
            uint here = sums.x;

            // Where it goes on if the leaf was read right: at the next one, or with the next lane's range. A node that
            // isn't the walk's leaf moves nothing.
            BTreeWalk on = walk;
            bool more = !astray && btree_walk_on(seen, here, on) && on.met < limit;
            bool ends = busy && !more;
            uint rest = ends ? open & (open - 1u) : open;
            uint its = uint(findLSB(rest)) & (TILE - 1u);
            BTreeWalk other = BTreeWalk(tile_shuffle(leaf, its), tile_shuffle(low, its), tile_shuffle(high, its),
                                        tile_shuffle(count, its));
            uint its_place = tile_shuffle(place + count, its), its_space = tile_shuffle(room, its);
            uint its_limit = tile_shuffle(most, its);
            bool mine = ends && tile_lane() == (uint(findLSB(open)) & (TILE - 1u));
            uint met = min(on.met, limit), met_low = on.low;
            uint fits = min(here, space - min(space, walk.met)), over = astray ? 0u : space - min(space, met);
            if (ends) on = other;
            uvec2 next_address = slab_address(tree.pool, on.node);
            acquire_fence();
            uvec4 again = uvec4(0u);
            if (busy) again = coherent_load4(address_add(address, BTREE_META_AT));
            Node next = leaf_load(next_address, rest != 0u);

            // The slots of most leaves are in order.
            uvec2 ranks = btree_ranks_in_order(sums.y);
            bool distinct = true;
            if (!subgroupAll(btree_in_order(n))) {
                ranks = btree_ranks_compared(n, inside);
                distinct = btree_ranks_distinct(ranks, inside, sums.x);
            }
            bool right = leaf_stands(seen, again) && distinct && busy;
            fits = right ? fits : 0u;
            BTreePair least = BTreePair(0u, 0u);
            [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
                bool has = ((inside >> m) & 1u) != 0u;
                uint rank = btree_rank(ranks, m);
                if (has && rank == 0u) least = BTreePair(n.pair[m].x, n.pair[m].y);
                if (has && rank < fits) pair_put(keys, values, ~0u, stage, rank, n.pair[m]);
            }
            least = BTreePair(tile_sum(least.key), tile_sum(least.value));   // one lane has it
            bool opens = right && walk.met == 0u && here != 0u && !astray;
            if (opens && tile_lane() == (uint(findLSB(open)) & (TILE - 1u))) first = least;
            stage.end += fits;
            ends = ends && right;
            if (mine && right) {
                count = met;
                low = met_low;
                todo = astray;
                status = astray ? STATUS_PENDING : STATUS_FOUND;
            }
            bool all = !stage_turn(stage, its_place, over, ends && rest != 0u);
            space = ends ? its_space : space;
            limit = ends ? its_limit : limit;
            if (right) {
                open = rest;
                walk = on;
                address = next_address;
                n = next;
            }
            spare = spare && !(ends && astray);   // it is going to be continued
            visits++;
            // Written where a stage is full, and by all tiles at their end: from one place in the code, which is large.
            bool write = subgroupAny(stage_full(stage, BTREE_SLOTS));
            bool last = !subgroupAny(open != 0u) || visits >= budget;
            if (STAGED) stage_write(keys, values, ~0u, spare, write || all || last, all || last, stage);
            if (all) stage = stage_at(its_place);
            bool rereads = busy && !right;
            if (subgroupAny(rereads)) {
                next = leaf_once(leaf_load(address, rereads));
                if (rereads) n = next;
            }
        }
    }
    return status;
}
#else
uint btree_range(BTree tree, BTreePlace start, uint low, uint high, bool enabled, uvec2 keys, uvec2 values, uint place,
                 uint room, uint most, uint budget, out uint count, out BTreePair first) {
    bool todo = enabled && low <= high && most != 0u;
    uint status = enabled && !todo ? STATUS_FOUND : STATUS_PENDING;
    uint visits = 0u;
    count = 0u;
    first = BTreePair(0u, 0u);
    while (subgroupAny(todo) && visits < budget) {
        uint leaf = start.node, above = tree.root;
        btree_descend(tree, low, 0u, todo && start.level != 0u, budget, visits, leaf, above);
        start = btree_anywhere(tree);   // for who was led astray
        uint open = tile_ballot(todo && leaf != SLAB_NULL);
        BTreeWalk walk = BTreeWalk(tree.root, 0u, 0u, 0u);
        uint to = 0u, space = 0u, limit = 0u;
        bool next = true;
        while (subgroupAny(open != 0u) && visits < budget) {
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
            NodeHeader header;
            bool whole = btree_view(slab_address(tree.pool, walk.node), busy, n, header);
            if (subgroupAny(!btree_in_order(n))) n = leaf_once(n);
            // A side link that is older than the high before it has led too far to the right.
            bool astray = busy && whole && (walk.low < header.low || btree_level(header.meta) != 0u);
            bool reads = busy && whole && !astray;
            uint inside = reads ? btree_inside(n, header.high, walk) : 0u;
            uvec2 sums = btree_sums(n, inside, walk.low);
            uint here = sums.x;
            uvec2 ranks = btree_ranks_in_order(sums.y);
            if (!subgroupAll(btree_in_order(n))) ranks = btree_ranks_compared(n, inside);
            uint fits = min(space, limit) - min(min(space, limit), walk.met);
            BTreePair least = BTreePair(0u, 0u);
            [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
                bool has = ((inside >> m) & 1u) != 0u;
                uint rank = btree_rank(ranks, m);
                if (has && rank == 0u) least = BTreePair(n.pair[m].x, n.pair[m].y);
                if (has && rank < fits) {
                    plain_store(address_at(keys, to + walk.met + rank, 2u), n.pair[m].x);
                    plain_store(address_at(values, to + walk.met + rank, 2u), n.pair[m].y);
                }
            }
            least = BTreePair(tile_sum(least.key), tile_sum(least.value));   // one lane has it
            bool opens = walk.met == 0u && here != 0u;
            bool more = true;
            if (reads) more = btree_walk_on(header, here, walk) && walk.met < limit;
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
            visits++;
        }
    }
    return status;
}
#endif

#endif
