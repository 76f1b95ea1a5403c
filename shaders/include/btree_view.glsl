// A view of a B-link-tree's leaf, concurrent with updates: what the whole tile has seen of it, if that was right.
//
// A leaf is read, and behind a fence its header once more. What was read is right if all words of it are what they were
// and the leaf isn't latched; else it is read again, on a later visit. Why: who splits a leaf latches it, takes pairs
// out, publishes high and link, and unlatches last, with a new version. If the reading missed a pair that was taken
// out, then the second look at the version, behind it, shows the latch or what came after. It shows no latch and the
// version of the first look: so the first look saw that split's end, and the second one, behind the fence, sees the
// high and the link that it published, or later ones. Then what was moved away lies above the high, and a walk comes to
// it by the link. What was moved away since the second look at the version was still seen. High and link may be of two
// later splits: with the older high the link leads to nodes that hold nothing new, and with the older link too far to
// the right, which shows by the low.
//
// Where no atomic takes a pair updates are made under the latch, each with a new version. The version is read in front
// of the slots, too, and has to be the same all the time.
#ifndef VKDS_BTREE_VIEW_GLSL
#define VKDS_BTREE_VIEW_GLSL

#include "btree_leaf.glsl"

// Whether the header of a leaf, read once more by each lane, is what it was, and the leaf isn't latched: the same for
// all lanes of the tile. Collective.
bool leaf_stands(NodeHeader seen, VKDS_HEADER again) {
#if VKDS_WIDE
    return tile_ballot(again != seen || btree_latched(again.meta)) == 0u;
#else
    return tile_ballot(again != uvec4(seen.meta, seen.low, seen.high, seen.link) || btree_latched(again.x)) == 0u;
#endif
}

// Reads a leaf. False: it is to be read again. Collective.
bool btree_view(uvec2 leaf, bool busy, out Node n, out NodeHeader header) {
#if !VKDS_LEAF_ATOMICS
#if !VKDS_WIDE && !defined(VKDS_CLOCK)
    pairs_by_32_bit_atomics();
#endif
    uint before = 0u;
    if (busy) before = atomic_load(address_add(leaf, BTREE_META_AT));
    acquire_fence();
#endif
    n = leaf_load(leaf, busy);
    header = btree_header(n);
#if !VKDS_LEAF_ATOMICS
    bool same = tile_ballot(before != header.meta) == 0u;
#else
    const bool same = true;
#endif
    acquire_fence();
    VKDS_HEADER again = VKDS_NO_HEADER;
    if (busy) again = VKDS_HEADER_LOAD(coherent_load4, leaf);
    bool stands = leaf_stands(header, again);
    return stands && same;
}

// A leaf as it was read, with each key once: one that was erased from one slot and inserted into another meanwhile may
// have been seen in both. Collective.
Node leaf_once(Node n) {
    K empty_key = btree_empty_key(btree_header(n).high), key[16];
    uint twice = 0u;
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) key[m] = btree_lane_has(m) ? n.pair[m].VKDS_KEY : empty_key;
    [[dont_unroll]] for (uint step = 0u; step < TILE; step++) {
        uint from = tile_lane() ^ step;
        [[unroll]] for (uint other = 0u; other < NODE_LANE_PAIRS; other++) {
            K its = subgroupShuffle(key[other], gl_SubgroupInvocationID ^ step);
            [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++)
                twice |= its == key[m] && (from < tile_lane() || (step == 0u && other < m)) ? 1u << m : 0u;
        }
    }
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++)
        n.pair[m].VKDS_KEY = ((twice >> m) & 1u) != 0u && btree_lane_has(m) ? empty_key : n.pair[m].VKDS_KEY;
    return n;
}

#endif
