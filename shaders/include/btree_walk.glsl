// B-link-tree walk: goes from leaf to leaf over the pairs of a range, by tiles of any width. The caller reads the
// leaves: by plain loads in a read-only phase, or by btree_view.glsl concurrently with updates.
#ifndef VKDS_BTREE_WALK_GLSL
#define VKDS_BTREE_WALK_GLSL

#include "btree_node.glsl"

// The sum over the tile's lanes, for all of them. Collective.
uint tile_sum(uint v) {
    [[unroll]] for (uint step = 1u; step < TILE; step <<= 1) v += subgroupShuffle(v, gl_SubgroupInvocationID ^ step);
    return v;
}

// The minimum over the tile's lanes, for all of them. Collective.
uint tile_min(uint v) {
    [[unroll]] for (uint step = 1u; step < TILE; step <<= 1)
        v = min(v, subgroupShuffle(v, gl_SubgroupInvocationID ^ step));
    return v;
}

#if VKDS_WIDE
K tile_sum(K v) {
    [[unroll]] for (uint step = 1u; step < TILE; step <<= 1)
        v = number_add(v, subgroupShuffle(v, gl_SubgroupInvocationID ^ step));
    return v;
}

K tile_min(K v) {
    [[unroll]] for (uint step = 1u; step < TILE; step <<= 1)
        v = number_min(v, subgroupShuffle(v, gl_SubgroupInvocationID ^ step));
    return v;
}
#endif

// The bitwise or over the tile's lanes, for all of them. Collective.
uint tile_or(uint v) {
    [[unroll]] for (uint step = 1u; step < TILE; step <<= 1) v |= subgroupShuffle(v, gl_SubgroupInvocationID ^ step);
    return v;
}

// A walk over the pairs of a range. The same for all lanes of the tile.
struct BTreeWalk {
    uint node;   // the current leaf
    K low;       // the rest of the range: low … high
    K high;
    uint met;    // the number of pairs that it has met
};

// The mask of this lane's pairs of a leaf that are in a walk's range: bit m for pair m. The leaf's low must not be
// above the walk's low: then empty keys are outside.
uint btree_inside(Node n, K high, BTreeWalk walk) {
    K last = VKDS_LESSER(walk.high, high), span = VKDS_MINUS(last, walk.low);
    uint inside = 0u;
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++)
        inside |= VKDS_UP_TO(VKDS_MINUS(n.pair[m].VKDS_KEY, walk.low), span) && btree_lane_has(m) ? 1u << m : 0u;
    return VKDS_UP_TO(walk.low, last) ? inside : 0u;
}

// Moves the walk to the next leaf, after one in which it met `count` pairs. Returns false if that was the last one.
bool btree_walk_on(NodeHeader header, uint count, inout BTreeWalk walk) {
    walk.met += count;
    bool more = VKDS_BELOW(header.high, walk.high) && header.link != SLAB_NULL;
    walk.low = more ? VKDS_GREATER(walk.low, VKDS_NEXT(header.high)) : walk.low;
    walk.node = more ? header.link : walk.node;
    return more;
}

// The number of a leaf's slots that are inside a walk's range, and the number with keys below its low. Collective.
uvec2 btree_sums(Node n, uint inside, K low) {
    uint below = 0u;
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++)
        below += VKDS_BELOW(n.pair[m].VKDS_KEY, low) && btree_lane_has(m) ? 1u : 0u;
    uint sums = tile_sum(uint(bitCount(inside)) | below << 16);
    return uvec2(sums & 0xffffu, sums >> 16);
}

// Whether the slots of a leaf are in the order of their keys, without duplicates, and empty ones (~0) last. Each lane
// returns this for its own slots: combine the lanes' results by subgroupAll. Collective.
bool btree_in_order(Node n) {
    uint lane = tile_lane(), next = (lane + 1u) & (TILE - 1u);
    bool order = true;
#if VKDS_WIDE
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
        // The slot after this lane's is the next lane's, or after the last lane the first lane's of the next step.
        K after = tile_shuffle(n.pair[m].VKDS_KEY, next);
        K on = tile_shuffle(n.pair[min(m + 1u, NODE_LANE_PAIRS - 1u)].VKDS_KEY, next);
        K behind = lane + 1u == TILE ? on : after;
        order = order && (node_pair_index(m) >= BTREE_SLOTS - 1u || VKDS_BELOW(n.pair[m].VKDS_KEY, behind)
                          || behind == K(~0u));
    }
#else
    uint after = tile_shuffle(n.pair[0].x, next);   // the first key of the next lane's quad
    [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++) {
        // The quad after this lane's is the next lane's, or after the last lane the first lane's of the next step. The
        // last quad is the header.
        uint on = j + 1u < NODE_QUADS ? tile_shuffle(n.pair[min(2u * j + 2u, NODE_LANE_PAIRS - 1u)].x, next) : ~0u;
        uint first = n.pair[2u * j].x, second = n.pair[2u * j + 1u].x, behind = lane + 1u == TILE ? on : after;
        uint quad = j * TILE + lane;
        bool within = first < second || second == ~0u, across = second < behind || behind == ~0u;
        order = order && (quad >= 7u || within) && (quad >= 6u || across);
        after = on;
    }
#endif
    return order;
}

// Ranks: the places in key order of a lane's pairs inside the range, among those of the tile; four bits for each pair.
uint btree_rank(uvec2 ranks, uint m) { return ((m < 8u ? ranks.x : ranks.y) >> (4u * (m & 7u))) & 15u; }

void btree_rank_add(inout uvec2 ranks, uint m, uint more) {
    if (m < 8u) ranks.x += more << (4u * m);
    else ranks.y += more << (4u * (m & 7u));
}

// a - b for each group of four bits, without borrowing from the next group.
uint btree_rank_subtract(uint a, uint b) {
    const uint TOPS = 0x88888888u;
    return ((a | TOPS) - (b & ~TOPS)) ^ ((a ^ ~b) & TOPS);
}

// The ranks if the slots are in order: the pairs inside are consecutive, after `before` slots with lower keys.
uvec2 btree_ranks_in_order(uint before) {
    uvec2 ranks = uvec2(0u);
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) btree_rank_add(ranks, m, node_pair_index(m));
    ranks.x = btree_rank_subtract(ranks.x, before * 0x11111111u);
    if (NODE_LANE_PAIRS > 8u) ranks.y = btree_rank_subtract(ranks.y, before * 0x11111111u);
    return ranks;
}

// The ranks if the slots may be in any order, by comparing all pairs. Collective.
uvec2 btree_ranks_compared(Node n, uint inside) {
    uvec2 ranks = uvec2(0u);
    [[dont_unroll]] for (uint step = 0u; step < TILE; step++) {
        [[unroll]] for (uint other = 0u; other < NODE_LANE_PAIRS; other++) {
            K own = ((inside >> other) & 1u) != 0u ? n.pair[other].VKDS_KEY : K(~0u);
            K its = subgroupShuffle(own, gl_SubgroupInvocationID ^ step);
            [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++)
                btree_rank_add(ranks, m, VKDS_BELOW(its, n.pair[m].VKDS_KEY) && ((inside >> m) & 1u) != 0u ? 1u : 0u);
        }
    }
    return ranks;
}

// Whether all of the tile's pairs inside the range have different ranks. They don't if a key was seen twice.
// Collective.
bool btree_ranks_distinct(uvec2 ranks, uint inside, uint pairs) {
    uint places = 0u;
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) places |= ((inside >> m) & 1u) << btree_rank(ranks, m);
    return uint(bitCount(tile_or(places))) == pairs;
}

#endif
