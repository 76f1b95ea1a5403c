// B-link-tree view: reads a leaf consistently while others update it.
//
// A tile reads the leaf and then, after a fence, its header again. The view is valid if the header is unchanged and the
// leaf isn't latched; otherwise a later visit reads the leaf again.
//
// Why that suffices: a split latches the leaf, moves pairs out, publishes high and link, and last unlatches the leaf
// with a new version. Suppose that the tile missed a pair because a split had moved it out. The second read of the
// version comes after that, and so shows the latch, or the version of that split or a later one. The view is valid, so
// the leaf isn't latched and the first read showed the same version: the split had ended by then. The second header,
// read after the fence, therefore has the high and link of that split or of later ones. The pair's key is above this
// high, and the walk reaches it by the link. Pairs that were moved out after the second read of the version are in the
// view. High and link may be of two different later splits. If the high is the older one, the link leads to nodes that
// add nothing; if the link is the older one, it leads too far right, which the low of the node there shows.
//
// Without atomics on pairs, updates hold the latch, and each sets a new version. The version is then also read before
// the slots, and all three versions must be equal.
#ifndef VKDS_BTREE_VIEW_GLSL
#define VKDS_BTREE_VIEW_GLSL

#include "btree_leaf.glsl"

// Whether a leaf's header, which each lane has read `again`, is unchanged, and the leaf isn't latched. The same for all
// lanes of the tile. Collective.
bool leaf_stands(NodeHeader seen, VKDS_HEADER again) {
#if VKDS_WIDE
    return tile_ballot(again != seen || btree_latched(again.meta)) == 0u;
#else
    return tile_ballot(again != uvec4(seen.meta, seen.low, seen.high, seen.link) || btree_latched(again.x)) == 0u;
#endif
}

// Reads a leaf. Returns false if the view is not valid and the leaf must be read again. Collective.
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

// Returns a leaf with duplicates of keys removed: if a key was erased from one slot and inserted into another during
// the read, both slots may show it. Collective.
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
