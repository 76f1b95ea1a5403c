// Keeps what leaves hold that a batch of updates is going to change, as versions, where the newest snapshot needs it
// (btree_version.glsl). Nothing changes the tree meanwhile.
//
// The leaves are those that the batch has been located in, or are looked for. Who is the first at a leaf that was not
// changed since the snapshot says by its stamp that it has taken it, and copies it. So no other one does.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_search.glsl"
#include "length.glsl"
#include "operation.glsl"
#include "results.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    BTreeVersions versions;
    BTreePrefixIndex index;
    uvec2 keys;      // K an operation
    uvec2 leaves;    // 0, or words: the leaf of each operation, SLAB_NULL of none
    uvec2 kinds;     // 0, or a byte an operation: some change nothing
    Length count;
    uint stride;     // words an operation in `leaves`
};

// The leaf that a key is for, from one on that may be to the left of it.
uint leaf_for(uint leaf, K key) {
    for (uint visits = tree.pool.blocks << 10; visits != 0u; visits--) {
        VKDS_HEADER header = VKDS_HEADER_LOAD(plain_load4, slab_address(tree.pool, leaf));
        if (VKDS_UP_TO(key, header.VKDS_HIGH) || header.VKDS_LINK == SLAB_NULL) break;
        leaf = header.VKDS_LINK;
    }
    return leaf;
}

// Takes versions for the lanes that want one: none where none is free, which the host has seen to. Collective.
uint take(bool wants) {
    uvec4 all = subgroupBallot(wants);
    uint n = subgroupBallotBitCount(all), before = 0u;
    if (n == 0u) return SLAB_NULL;
    if (subgroupElect()) before = atomic_add(versions.free, 0u - n);
    uint place = subgroupBroadcastFirst(before) - subgroupBallotExclusiveBitCount(all);
    uint version = SLAB_NULL;
    if (wants && place - 1u < versions.count) version = plain_load_at(versions.free, place);
    return version < versions.count ? version : SLAB_NULL;
}

void main() {
    uint i = invocation_index();
    bool changes = i < length_of(count);
    if (changes && (kinds.x | kinds.y) != 0u) {
        uint kind = byte_load(kinds, i);
        changes = op_inserts(kind) || kind == OP_DELETE;
    }
    uint leaf = SLAB_NULL;
    if ((leaves.x | leaves.y) != 0u) {
        if (changes) leaf = plain_load_at(leaves, i * stride);
        bool same = changes && stride == 1u && i != 0u;
        if (same) same = plain_load_at(leaves, i - 1u) == leaf;
        if (same) leaf = SLAB_NULL;
    } else {
        K key = K(0u);
        if (changes) key = VKDS_LOAD_AT(keys, i);
        uint above, found = btree_seek(tree, index, key, changes, above);
        if (changes) leaf = found;
    }
    if (leaf != SLAB_NULL && (keys.x | keys.y) != 0u) leaf = leaf_for(leaf, VKDS_LOAD_AT(keys, i));
    if (!pool_has(tree.pool, leaf)) leaf = SLAB_NULL;

    BTreeStamp stamp = BTreeStamp(0u, SLAB_NULL);
    uvec2 at = btree_stamp_at(versions, tree.pool, leaf);
    bool mine = false;
    if (leaf != SLAB_NULL) {
        stamp.time = atomic_load(at);
        if (stamp.time <= versions.protects) mine = atomic_cas(at, stamp.time, versions.now) == stamp.time;
    }
    uint version = take(mine);
    if (mine && version == SLAB_NULL) atomic_store(at, stamp.time);
    mine = mine && version != SLAB_NULL;
    if (mine) {
        stamp.older = plain_load(address_add(at, 4u));
        plain_store(address_add(at, 4u), version);
    }
    uint todo = tile_ballot(mine);
    while (subgroupAny(todo != 0u)) {
        bool busy = todo != 0u;
        uint source = tile_first(todo);
        uvec2 from = slab_address(tree.pool, tile_shuffle(busy ? leaf : tree.root, source));
        uvec2 to = btree_version_at(versions, tile_shuffle(version, source));
        uvec2 kept = tile_shuffle(uvec2(stamp.time, stamp.older), source);
        Node n = node_load(from, busy);
        [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++) {
            uint quad = j * TILE + tile_lane();
            uvec4 v = VKDS_NODE_QUAD(n, j);
            if (quad == 7u) v = uvec4(kept, versions.now, 0u);
            if (busy) plain_store4(address_add(to, quad * 16u), v);
        }
        todo &= todo - 1u;
    }
}
