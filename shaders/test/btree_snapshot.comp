// For test/shader: a tree at a snapshot. Each lane has a key: it calls btree_find, and counts the key in its leaf at
// the snapshot, also by a walk. Or the stamps of two slabs before and after btree_inherit.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_search.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 state;     // that of the tree itself
    uvec2 queries;   // one word per invocation; or two slabs
    uvec2 answers;   // four words per invocation: found, value, times, the leaf; or the stamps of the slabs
    uint count;      // 0: the second slab inherits the stamp of the first
};

// The leaf of a key at the snapshot. All lanes of a tile pass the same key.
Node leaf_then(inout uint slab, K key, bool enabled) {
    for (uint steps = 64u; steps != 0u; steps--) {
        NodeHeader now = btree_header(node_load(slab_address(tree.pool, slab), enabled));
        bool right = enabled && VKDS_ABOVE(key, now.high);
        if (!subgroupAny(right)) break;
        slab = right && pool_has(tree.pool, now.link) ? now.link : slab;
    }
    return VKDS_BTREE_NODE(tree, slab, enabled);
}

// How often the tile's leaf has a key.
uint held_in(Node n, K key) {
    K high = btree_header(n).high;
    uint has = 0u;
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
        uint held = n.pair[m].VKDS_KEY;
        has += bitCount(tile_ballot(btree_lane_has(m) && btree_live(held, high) && held == key));
    }
    return has;
}

void stamps() {
    uint from = plain_load(queries), to = plain_load(address_add(queries, 4u));
    if (!pool_has(tree.pool, from) || !pool_has(tree.pool, to)) return;
    BTreeVersions versions = BTreeVersions(tree.state);
    BTreeStamp before = btree_stamp(versions, tree.pool, to);
    BTree own = tree;
    own.state = state;
    btree_inherit(own, from, to);
    BTreeStamp of = btree_stamp(versions, tree.pool, from);
    plain_store4(answers, uvec4(before.time, before.older, of.time, of.older));
    plain_store2(address_add(answers, 16u), coherent_load2(btree_stamp_at(versions, tree.pool, to)));
}

void main() {
    uint i = invocation_index();
    if (count == 0u) {
        if (i == 0u) stamps();
        return;
    }
    BTreePrefixIndex index = BTreePrefixIndex(uvec2(0u), 0u);
    bool there = i < count;
    uint key = there ? plain_load(address_at(queries, i, 2u)) : 0u;
    uint value, above, times = 0u;
    bool found = btree_find(tree, index, key, there, value);
    uint leaf = btree_seek(tree, index, key, there, above);
    for (uint l = 0u; l < TILE; l++) {
        bool enabled = tile_shuffle(there ? 1u : 0u, l) != 0u;
        uint its_key = tile_shuffle(key, l);
        uint slab = tile_shuffle(there ? leaf : tree.root, l);
        Node n = leaf_then(slab, its_key, enabled), walked = btree_walk_load(tree, slab, enabled);
        uint has = held_in(n, its_key);
        bool same = held_in(walked, its_key) == has;
        times = l == tile_lane() ? (same ? has : ~0u) : times;
    }
    if (there) plain_store4(address_at(answers, i, 4u), uvec4(found ? 1u : 0u, value, times, leaf));
}
