// B-link-tree versions: copies of leaves as they were at snapshots.
//
// After Awad's dissertation (2022), chapter 4; here only leaves have versions. A version is a copy of a leaf. A leaf's
// stamp has the time when the leaf got its contents, and the number of the version with its earlier contents. Versions
// have stamps, too. The stamps of leaves are in a table, indexed by the numbers of their slabs, and versions are in
// memory of their own. So nodes are the same as without versions, and reads of the newest pairs don't read versions.
//
// A snapshot is a time. Before a batch of updates runs, the leaves that it will change are copied if they were not
// changed since the newest open snapshot, and their stamps get the batch's time. Then the batch runs as without
// snapshots. A leaf that is split off inherits the stamp of the leaf it was split from, since its pairs were in that
// leaf before. So a version may have pairs outside a leaf's range, which must be ignored, and several leaves may share
// a version.
//
// A read at a snapshot reads a leaf's stamp, and then either the leaf or the version. To go on to the next leaf it also
// reads the leaf's header. A search doesn't need that: a version has the leaf's high at the time of the copy, and keys
// above it have been right of the leaf since. A search doesn't read most stamps, either: a table of bits, small enough
// for caches, marks the leaves whose time may be after that of an open snapshot.
//
// The functions are for read-only phases. A tree at a snapshot (Snapshot.InShaders in Go) is a BTree whose `state` is
// the address of BTreeVersions with the snapshot's time. Define VKDS_SNAPSHOT before this header and the headers that
// search: they then read the tree as it was at the snapshot.
#ifndef VKDS_BTREE_VERSION_GLSL
#define VKDS_BTREE_VERSION_GLSL

#include "btree_node.glsl"

// The time when a leaf or a version got its contents, and the number of the version with the contents before. If the
// time is not after the oldest open snapshot, the version's number is not valid.
struct BTreeStamp {
    uint time;
    uint older;
};

// A tree's versions, as they are in memory. Those of type uvec2 are addresses.
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer BTreeVersions {
    uvec2 stamps;     // four words for each slab of the pool: a BTreeStamp, and its version's time and high (BTreeLead)
    uvec2 changed;    // one bit for each slab
    uvec2 versions;   // NODE_BYTES each
    uvec2 free;       // one word with the number of free versions, and then their numbers
    uint count;       // the number of versions, free or not
    uint now;         // the time of the updates; for a snapshot its time, or ~0 if no leaf was changed since
    uint protects;    // the time of the newest open snapshot
};

// A version has a leaf's slots, and these words in place of the header (byte offsets):
const uint BTREE_VERSION_TIME_AT = NODE_BYTES - 16u;
const uint BTREE_VERSION_OLDER_AT = NODE_BYTES - 12u;
const uint BTREE_VERSION_UNTIL_AT = NODE_BYTES - 8u;   // the time of the contents after it; 0: the version is free
const uint BTREE_VERSION_HIGH_AT = NODE_BYTES - (VKDS_WIDE != 0 ? 24u : 4u);   // the leaf's high when it was copied

const uint BTREE_SLOT_QUADS = BTREE_META_AT / 16u;   // the quads of a node before the header

// A quad of a version: the leaf's slots, or the words in place of the header.
uvec4 btree_version_quad(uint quad, uvec4 slots, BTreeStamp stamp, uint until, K high) {
    if (quad < BTREE_SLOT_QUADS) return slots;
#if VKDS_WIDE
    return quad == BTREE_SLOT_QUADS ? uvec4(0u, 0u, high) : uvec4(stamp.time, stamp.older, until, 0u);
#else
    return uvec4(stamp.time, stamp.older, until, high);
#endif
}

const uint BTREE_STAMP_SHIFT = 4u;

uvec2 btree_stamp_at(BTreeVersions v, SlabPool pool, uint slab) {
    return address_at(v.stamps, pool_number(slab), BTREE_STAMP_SHIFT);
}
uvec2 btree_version_at(BTreeVersions v, uint version) { return address_at(v.versions, version, NODE_SHIFT); }

// A slab's bit in the table of changed leaves: the address of its word, and the mask of the bit.
uvec2 btree_changed_at(uvec2 changed, uint number) { return address_at(changed, number >> 5, 2u); }
uint btree_changed_bit(uint number) { return 1u << (number & 31u); }

// Marks a leaf whose stamp has a time that may be after that of an open snapshot.
void btree_mark_changed(uvec2 changed, uint number) {
    atomic_or(btree_changed_at(changed, number), btree_changed_bit(number));
}

// Whether the stamp of a leaf, given by its slab's number, must be read.
bool btree_was_changed(BTreeVersions v, uint number) {
    return (plain_load(btree_changed_at(v.changed, number)) & btree_changed_bit(number)) != 0u;
}

BTreeStamp btree_stamp(BTreeVersions v, SlabPool pool, uint slab) {
    uvec2 stamp = plain_load2(btree_stamp_at(v, pool, slab));
    return BTreeStamp(stamp.x, stamp.y);
}

// A leaf's stamp, with the time and the high of its version, so that they need not be read from the version.
struct BTreeLead {
    BTreeStamp stamp;
    uint since;   // the time of the version
    uint high;    // the version's high, if keys have 32 bits
};

BTreeLead btree_lead(BTreeVersions v, SlabPool pool, uint slab) {
    uvec4 lead = plain_load4(btree_stamp_at(v, pool, slab));
    return BTreeLead(BTreeStamp(lead.x, lead.y), lead.z, lead.w);
}

// The two words after a leaf's stamp.
#if VKDS_WIDE
#define VKDS_LEAD(SINCE, HIGH) uvec2(SINCE, 0u)
#else
#define VKDS_LEAD(SINCE, HIGH) uvec2(SINCE, HIGH)
#endif

BTreeStamp btree_version_stamp(BTreeVersions v, uint version) {
    uvec2 stamp = plain_load2(address_add(btree_version_at(v, version), BTREE_VERSION_TIME_AT));
    return BTreeStamp(stamp.x, stamp.y);
}

const uint BTREE_VERSION_LEVEL = ~0u;   // the level of a search at a version: its node is then the version's number

// Whether a search that came to a leaf from its parent must go on to the right, because the key is above the high that
// the leaf had when its version was copied.
bool btree_version_passed(BTreeLead lead, uvec2 version, K key) {
#if VKDS_WIDE
    return VKDS_ABOVE(key, VKDS_LOAD(address_add(version, BTREE_VERSION_HIGH_AT)));
#else
    return key > lead.high;
#endif
}

// Reads a node's header from one place, and its slots from another. Tiles that are not enabled read nothing.
Node btree_load(uvec2 header, uvec2 slots, bool enabled) {
    Node n;
    [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++) {
        uint quad = j * TILE + tile_lane();
        uvec4 q = uvec4(0u);
        if (enabled) q = plain_load4(address_add(quad < BTREE_SLOT_QUADS ? slots : header, quad * 16u));
        VKDS_NODE_PUT(n, j, q);
    }
    return n;
}

// Reads a node as it was at a snapshot: a leaf's slots of that time, with its current header. If they come from a
// version, `kept` becomes true, and some keys may be outside the leaf's range. Inner nodes are read as they are.
// Collective.
Node btree_load_kept(BTree tree, uint slab, bool enabled, out bool kept) {
    BTreeVersions at = BTreeVersions(tree.state);
    uvec2 leaf = slab_address(tree.pool, slab);
    BTreeLead lead = BTreeLead(BTreeStamp(0u, 0u), 0u, 0u);
    // Reading the bit of changed leaves first would add a memory latency (docs/notes/measurements.md).
    if (enabled && at.now != ~0u) lead = btree_lead(at, tree.pool, slab);
    uint version = lead.stamp.older;
    kept = lead.stamp.time > at.now && version < at.count;
    bool follows = kept && lead.since > at.now;
    for (uint steps = at.count; subgroupAny(follows) && steps != 0u; steps--) {
        BTreeStamp its = BTreeStamp(0u, SLAB_NULL);
        if (follows) its = btree_version_stamp(at, version);
        follows = follows && its.time > at.now;
        // If the version is missing, the leaf's contents are used: that happens only if memory is damaged.
        kept = kept && !(follows && its.older >= at.count);
        version = follows ? its.older : version;
        follows = follows && kept;
    }
    return btree_load(leaf, kept ? btree_version_at(at, version) : leaf, enabled);
}

// Reads a node like btree_load_kept, and makes slots free whose keys are outside the leaf's range. Collective.
Node btree_load_then(BTree tree, uint slab, bool enabled) {
    bool kept;
    Node n = btree_load_kept(tree, slab, enabled, kept);
    if (!subgroupAny(kept)) return n;
    NodeHeader header = btree_header(n);
    K empty_key = btree_empty_key(header.high);
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
        bool own = VKDS_FROM(n.pair[m].VKDS_KEY, header.low) && VKDS_UP_TO(n.pair[m].VKDS_KEY, header.high);
        if (kept && !own && btree_lane_has(m)) n.pair[m] = P(empty_key, V(0u));
    }
    return n;
}

// Gives a new leaf the stamp of the leaf that it was split from, before any link leads to it. For one lane.
void btree_inherit(BTree tree, uint from, uint to) {
    if (!pool_has(tree.pool, from) || !pool_has(tree.pool, to)) return;   // only a stray write leaves such a slab
    uvec2 stamps = plain_load2(address_add(tree.state, BTREE_STAMPS_AT));
    uvec4 stamp = coherent_load4(address_at(stamps, pool_number(from), BTREE_STAMP_SHIFT));
    coherent_store4(address_at(stamps, pool_number(to), BTREE_STAMP_SHIFT), stamp);
    if (stamp.x != 0u) btree_mark_changed(plain_load2(address_add(tree.state, BTREE_CHANGED_AT)), pool_number(to));
}

// Reads a node of a tree: as it is, or with VKDS_SNAPSHOT as it was at the snapshot. btree_walk_load is for walks
// (btree_walk.glsl), which ignore keys outside the leaf's range; VKDS_BTREE_NODE is for others. Collective.
#ifdef VKDS_SNAPSHOT
Node btree_walk_load(BTree tree, uint slab, bool enabled) {
    bool kept;
    return btree_load_kept(tree, slab, enabled, kept);
}
#define VKDS_BTREE_NODE(TREE, SLAB, ENABLED) btree_load_then(TREE, SLAB, ENABLED)
#else
Node btree_walk_load(BTree tree, uint slab, bool enabled) { return node_load(slab_address(tree.pool, slab), enabled); }
#define VKDS_BTREE_NODE(TREE, SLAB, ENABLED) node_load(slab_address((TREE).pool, SLAB), ENABLED)
#endif

#endif
