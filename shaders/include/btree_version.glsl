// Versions of a B-link-tree's leaves: what a leaf held at a snapshot, and how it comes to be kept.
//
// After Awad's dissertation (2022), chapter 4, with leaves alone that have versions. A leaf's stamp says since when it
// holds what is in it, and which version has what it held before: a copy of the leaf, with a stamp of its own. Stamps
// of leaves stand in a table by the numbers of their slabs, and versions in memory of their own. So nodes are as they
// are without versions, and who reads the newest pairs has nothing to do with them.
//
// A snapshot is a time. Before a batch of updates changes leaves, those that it is going to change and that were not
// changed since the newest open snapshot are copied; their stamps say the batch's time from then on. Then the batch
// runs as ever. A leaf that is split off has the stamp of the one that it was split from: what it held before, it held
// as a part of that. So a version may have pairs outside its leaf's range, which are none of the leaf's, and several
// leaves may lead to one version.
//
// What is here is for a read-only phase. A tree at a snapshot (Snapshot.On in Go) is a BTree whose `state` is the
// address of BTreeVersions of the snapshot's time: define VKDS_SNAPSHOT before this header and those that search, and
// they read what it held.
#ifndef VKDS_BTREE_VERSION_GLSL
#define VKDS_BTREE_VERSION_GLSL

#include "btree_node.glsl"

// Since when a leaf or a version holds what is in it, and the version with what was there before. Where the time is not
// above that of the oldest open snapshot, the version means nothing.
struct BTreeStamp {
    uint time;
    uint older;
};

// A tree's versions, as they stand in memory.
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer BTreeVersions {
    uvec2 stamps;     // a BTreeStamp a slab of the pool
    uvec2 versions;   // NODE_BYTES each
    uvec2 free;       // a word, how many versions are free, and then these
    uint count;       // of versions, free or not
    uint now;         // the time of the updates; of a snapshot its own, or ~0 where no leaf was changed since
    uint protects;    // the newest open snapshot
};

// A version is a leaf's slots, of which these words stand in place of the last part of its header.
const uint BTREE_VERSION_TIME_AT = NODE_BYTES - 16u;
const uint BTREE_VERSION_OLDER_AT = NODE_BYTES - 12u;
const uint BTREE_VERSION_UNTIL_AT = NODE_BYTES - 8u;   // the time of what came behind it; 0: the version is free

uvec2 btree_stamp_at(BTreeVersions v, SlabPool pool, uint slab) { return address_at(v.stamps, pool_number(slab), 3u); }
uvec2 btree_version_at(BTreeVersions v, uint version) { return address_at(v.versions, version, NODE_SHIFT); }

BTreeStamp btree_stamp(BTreeVersions v, SlabPool pool, uint slab) {
    uvec2 stamp = plain_load2(btree_stamp_at(v, pool, slab));
    return BTreeStamp(stamp.x, stamp.y);
}

BTreeStamp btree_version_stamp(BTreeVersions v, uint version) {
    uvec2 stamp = plain_load2(address_add(btree_version_at(v, version), BTREE_VERSION_TIME_AT));
    return BTreeStamp(stamp.x, stamp.y);
}

const uint BTREE_VERSION_LEVEL = ~0u;   // of a search that has come to a version: what it calls a node is its number

// What a leaf that was read held at a snapshot: its slots as they were, with the header that it has now. Those whose
// keys are outside of the leaf's range are free. For nodes that are no leaves nothing changes. Collective.
Node btree_then(BTree tree, uint slab, Node n, bool enabled) {
    BTreeVersions at = BTreeVersions(tree.state);
    BTreeStamp stamp = BTreeStamp(0u, 0u);
    if (enabled && at.now != ~0u) stamp = btree_stamp(at, tree.pool, slab);
    bool older = stamp.time > at.now && stamp.older < at.count;
    if (!subgroupAny(older)) return n;
    NodeHeader header = btree_header(n);
    K empty_key = btree_empty_key(header.high);
    for (uint steps = at.count; subgroupAny(older) && steps != 0u; steps--) {
        Node then = node_load(btree_version_at(at, older ? stamp.older : 0u), older);
        uvec2 its = tile_shuffle(VKDS_NODE_QUAD(then, (NODE_QUADS - 1u)).xy, NODE_LAST_LANE);
        bool arrived = older && its.x <= at.now;
        [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
            P pair = then.pair[m];
            bool own = VKDS_FROM(pair.VKDS_KEY, header.low) && VKDS_UP_TO(pair.VKDS_KEY, header.high);
            if (arrived && btree_lane_has(m)) n.pair[m] = own ? pair : P(empty_key, V(0u));
        }
        stamp.older = its.y;
        older = older && !arrived && stamp.older < at.count;
    }
    return n;
}

// Gives a leaf that is split off the stamp of the leaf that it was split from, before anything leads to it. One lane's
// own.
void btree_inherit(BTree tree, uint from, uint to) {
    if (!pool_has(tree.pool, from) || !pool_has(tree.pool, to)) return;   // only a stray write leaves such a slab
    uvec2 stamps = plain_load2(address_add(tree.state, BTREE_STAMPS_AT));
    coherent_store2(address_at(stamps, pool_number(to), 3u), coherent_load2(address_at(stamps, pool_number(from), 3u)));
}

// Reads a node of a tree: as it is, or with VKDS_SNAPSHOT as it was. Collective.
#ifdef VKDS_SNAPSHOT
#define VKDS_BTREE_NODE(TREE, SLAB, ENABLED) \
    btree_then(TREE, SLAB, node_load(slab_address((TREE).pool, SLAB), ENABLED), ENABLED)
#else
#define VKDS_BTREE_NODE(TREE, SLAB, ENABLED) node_load(slab_address((TREE).pool, SLAB), ENABLED)
#endif

#endif
