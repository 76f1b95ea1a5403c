// Copies the leaves that a batch of updates will change to versions, if the newest snapshot needs them
// (btree_version.glsl). Nothing changes the tree at the same time.
//
// The leaves were located before, or are searched here. If a leaf was not changed since the snapshot, one of the
// operations on it copies it and sets its stamp. If operations are in the order of their leaves, that is the first one,
// which sees another leaf before it. Otherwise a compare-and-swap on the stamp decides.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_search.glsl"
#include "length.glsl"
#include "operation.glsl"
#include "results.glsl"
#include "trace.glsl"
#include "workgroup.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    BTreeVersions versions;
    BTreePrefixIndex index;
    uvec2 keys;      // K per operation; 0: `leaves` has the leaves of the operations, in order
    uvec2 leaves;    // 0, or words: the leaf of each operation, or one to the left of it; SLAB_NULL if there is none
    uvec2 kinds;     // 0, or one byte per operation: some kinds change nothing
    Length count;
    uint stride;     // words per operation in `leaves`
};

// The leaf of a key, searched from a leaf that may be to the left of it.
uint leaf_for(uint leaf, K key) {
    for (uint visits = tree.pool.blocks << 10; visits != 0u; visits--) {
        VKDS_HEADER header = VKDS_HEADER_LOAD(plain_load4, slab_address(tree.pool, leaf));
        if (VKDS_UP_TO(key, header.VKDS_HIGH) || header.VKDS_LINK == SLAB_NULL) break;
        leaf = header.VKDS_LINK;
    }
    return leaf;
}

bool in_order() { return (keys.x | keys.y) == 0u; }

bool changes(uint i) {
    if (i >= length_of(count)) return false;
    if ((kinds.x | kinds.y) == 0u) return true;
    uint kind = byte_load(kinds, i);
    return op_inserts(kind) || kind == OP_DELETE;
}

// The leaf that an invocation's operation changes, unless an earlier one in order changes it; otherwise SLAB_NULL.
uint changed_leaf(uint i) {
    uint leaf = SLAB_NULL;
    bool own = changes(i);
    if ((leaves.x | leaves.y) == 0u) {
        K key = K(0u);
        if (own) key = VKDS_LOAD_AT(keys, i);
        uint above, found = btree_seek(tree, index, key, own, above);
        if (own) leaf = found;
    } else if (own) {
        leaf = plain_load_at(leaves, i * stride);
    }
    if (!in_order()) {
        if (leaf != SLAB_NULL) leaf = leaf_for(leaf, VKDS_LOAD_AT(keys, i));
    } else if (own && i != 0u && plain_load_at(leaves, i - 1u) == leaf) {
        leaf = SLAB_NULL;
    }
    return pool_has(tree.pool, leaf) ? leaf : SLAB_NULL;
}

// The stamp of a leaf, if this invocation must keep the leaf; otherwise one with time ~0.
BTreeStamp claim(uint leaf) {
    BTreeStamp none = BTreeStamp(~0u, SLAB_NULL);
    if (leaf == SLAB_NULL) return none;
    uvec2 at = btree_stamp_at(versions, tree.pool, leaf);
    if (in_order()) {
        BTreeStamp stamp = btree_stamp(versions, tree.pool, leaf);
        return stamp.time <= versions.protects ? stamp : none;
    }
    uint time = atomic_load(at);
    bool mine = time <= versions.protects && atomic_cas(at, time, versions.now) == time;
    return mine ? BTreeStamp(time, plain_load(address_add(at, 4u))) : none;
}

// Writes into the stamp of a claimed leaf which version has its contents. If no version was free, undoes the claim.
void link(uint leaf, BTreeStamp stamp, uint version) {
    uvec2 at = btree_stamp_at(versions, tree.pool, leaf);
    bool there = version != SLAB_NULL;
    if (!in_order() && !there) atomic_store(at, stamp.time);
    if (in_order() && there) plain_store(at, versions.now);
    if (!there) return;
    plain_store(address_add(at, 4u), version);
    btree_mark_changed(versions.changed, pool_number(leaf));
    VKDS_EVENT(true, TRACE_KEEP, leaf, version)
}

shared uint wanted;
shared uint first;

// Takes a version for each invocation that wants one: SLAB_NULL if none is free, which the host prevents. Collective
// over the workgroup.
uint take(bool wants) {
    if (workgroup_lane() == 0u) wanted = 0u;
    barrier();
    uvec4 all = subgroupBallot(wants);
    uint n = subgroupBallotBitCount(all), before = 0u;
    if (subgroupElect() && n != 0u) before = atomicAdd(wanted, n);
    before = subgroupBroadcastFirst(before);
    barrier();
    if (workgroup_lane() == 0u && wanted != 0u) first = atomic_add(versions.free, 0u - wanted);
    barrier();
    uint place = first - before - subgroupBallotExclusiveBitCount(all);
    uint version = SLAB_NULL;
    if (wants && place - 1u < versions.count) version = plain_load_at(versions.free, place);
    return version < versions.count ? version : SLAB_NULL;
}

void main() {
    uint leaf = changed_leaf(invocation_index());
    BTreeStamp stamp = claim(leaf);
    bool mine = stamp.time != ~0u;
    uint version = take(mine);
    if (mine) link(leaf, stamp, version);
    mine = mine && version != SLAB_NULL;
    // All leaves of a tile are loaded before the first version is written.
    Node kept[TILE];
    [[unroll]] for (uint l = 0u; l < TILE; l++) {
        bool busy = tile_shuffle(mine ? 1u : 0u, l) != 0u;
        kept[l] = node_load(slab_address(tree.pool, tile_shuffle(mine ? leaf : tree.root, l)), busy);
    }
    [[unroll]] for (uint l = 0u; l < TILE; l++) {
        bool busy = tile_shuffle(mine ? 1u : 0u, l) != 0u;
        uvec2 to = btree_version_at(versions, tile_shuffle(version, l));
        BTreeStamp its = BTreeStamp(tile_shuffle(stamp.time, l), tile_shuffle(stamp.older, l));
        K high = btree_header(kept[l]).high;
        if (busy && tile_lane() == l) {
            uvec2 at = btree_stamp_at(versions, tree.pool, leaf);
            plain_store2(address_add(at, 8u), VKDS_LEAD(stamp.time, high));
        }
        [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++) {
            uint quad = j * TILE + tile_lane();
            uvec4 v = btree_version_quad(quad, VKDS_NODE_QUAD(kept[l], j), its, versions.now, high);
            if (busy) plain_store4(address_add(to, quad * 16u), v);
        }
    }
}
