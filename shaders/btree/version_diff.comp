// Writes, in key order, the keys whose pairs differ between two snapshots, in leaves that were changed between them.
// Each tile has a leaf.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_version.glsl"
#include "operation.glsl"
#include "length.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint COUNT_ALONE = 0;   // 1: only count these keys in each leaf

// The output. Old values, new values and kinds may be 0: not wanted.
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Differences {
    uvec2 keys;
    uvec2 old_values;
    uvec2 new_values;
    uvec2 kinds;      // bytes, 0 before: the operation that leads from the earlier snapshot to the later one
    uvec2 from;       // the least key to look at
    uint capacity;    // the number of keys that fit into the output
};

layout(push_constant, std430) uniform Push {
    BTree tree;        // at the earlier snapshot
    uvec2 later;       // BTreeVersions of the later one
    Differences to;
    uvec2 slabs;       // the leaves
    uvec2 counts;      // with COUNT_ALONE, output: the number of keys of each leaf
    uvec2 offsets;     // otherwise: the number of keys before each leaf
    Length leaves;
};

void put(uint at, uint kind, K key, V old_value, V new_value) {
    if (at >= to.capacity) return;
    VKDS_STORE_AT(to.keys, at, key);
    if ((to.old_values.x | to.old_values.y) != 0u) VKDS_STORE_AT(to.old_values, at, old_value);
    if ((to.new_values.x | to.new_values.y) != 0u) VKDS_STORE_AT(to.new_values, at, new_value);
    if ((to.kinds.x | to.kinds.y) != 0u) atomic_or(address_add(to.kinds, at & ~3u), kind << (8u * (at & 3u)));
}

void main() {
    uint leaf = invocation_index() / TILE, slab = tree.root, first = 0u;
    bool there = leaf < length_of(leaves);
    if (there) slab = plain_load_at(slabs, leaf);
    if (there && COUNT_ALONE == 0u) first = plain_load_at(offsets, leaf);
    BTree other = tree;
    other.state = later;
    Node was = btree_load_then(tree, slab, there), is = btree_load_then(other, slab, there);
    K high = btree_header(is).high;
#if VKDS_WIDE
    K least = to.from;
#else
    K least = to.from.x;
#endif
    // Masks of this lane's pairs. The key of a pair is never that of a free slot.
    uint gone = 0u, come = 0u, met = 0u;
    V before[NODE_LANE_PAIRS];   // for each pair of the later snapshot, its value in the earlier one
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
        bool slot = there && btree_lane_has(m);
        K old = was.pair[m].VKDS_KEY, new = is.pair[m].VKDS_KEY;
        gone |= slot && btree_live(old, high) && VKDS_FROM(old, least) ? 1u << m : 0u;
        come |= slot && btree_live(new, high) && VKDS_FROM(new, least) ? 1u << m : 0u;
        before[m] = V(0u);
    }
    [[unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) {
        P old = tile_shuffle(was.pair[node_pair_number(s)], node_pair_lane(s));
        P new = tile_shuffle(is.pair[node_pair_number(s)], node_pair_lane(s));
        [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
            bool same = old.VKDS_KEY == is.pair[m].VKDS_KEY;
            met |= same ? 1u << m : 0u;
            before[m] = same ? old.VKDS_VALUE : before[m];
            come &= old == is.pair[m] ? ~(1u << m) : ~0u;
            gone &= new.VKDS_KEY == was.pair[m].VKDS_KEY ? ~(1u << m) : ~0u;
        }
    }
    uint differing = 0u;
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
        differing += uint(bitCount(tile_ballot((gone >> m & 1u) != 0u))) +
                     uint(bitCount(tile_ballot((come >> m & 1u) != 0u)));
    }
    if (COUNT_ALONE != 0u) {
        if (there && tile_lane() == 0u) plain_store_at(counts, leaf, differing);
        return;
    }
    // A key's rank is the number of smaller keys. Keys that don't differ are replaced by ~0, and so count for none.
    uint old_at[NODE_LANE_PAIRS], new_at[NODE_LANE_PAIRS];
    K old_key[NODE_LANE_PAIRS], new_key[NODE_LANE_PAIRS];
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
        old_at[m] = new_at[m] = first;
        old_key[m] = (gone >> m & 1u) != 0u ? was.pair[m].VKDS_KEY : K(~0u);
        new_key[m] = (come >> m & 1u) != 0u ? is.pair[m].VKDS_KEY : K(~0u);
    }
    [[unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) {
        K old = tile_shuffle(old_key[node_pair_number(s)], node_pair_lane(s));
        K new = tile_shuffle(new_key[node_pair_number(s)], node_pair_lane(s));
        [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
            old_at[m] += (VKDS_BELOW(old, old_key[m]) ? 1u : 0u) + (VKDS_BELOW(new, old_key[m]) ? 1u : 0u);
            new_at[m] += (VKDS_BELOW(old, new_key[m]) ? 1u : 0u) + (VKDS_BELOW(new, new_key[m]) ? 1u : 0u);
        }
    }
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
        if ((gone >> m & 1u) != 0u) put(old_at[m], OP_DELETE, old_key[m], was.pair[m].VKDS_VALUE, V(0u));
        uint kind = (met >> m & 1u) != 0u ? OP_INSERT : OP_INSERT_UNIQUE;
        if ((come >> m & 1u) != 0u) put(new_at[m], kind, new_key[m], before[m], is.pair[m].VKDS_VALUE);
    }
}
