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
// Who reads at a snapshot asks for a leaf's stamp first, and then reads the leaf or the version: never both, but for
// the leaf's header, where it goes on to the next one. A search needs not even that: a version says up to which key its
// leaf went when it was copied, and keys above have been to the right of the leaf since. Nor does a search read most
// stamps: a table of bits, which caches hold, says of which leaves the time may be above that of an open snapshot.
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
    uvec2 stamps;     // four words a slab of the pool: a BTreeStamp, and what its version says of itself (BTreeLead)
    uvec2 changed;    // a bit a slab
    uvec2 versions;   // NODE_BYTES each
    uvec2 free;       // a word, how many versions are free, and then these
    uint count;       // of versions, free or not
    uint now;         // the time of the updates; of a snapshot its own, or ~0 where no leaf was changed since
    uint protects;    // the newest open snapshot
};

// A version is a leaf's slots, and this in place of its header:
const uint BTREE_VERSION_TIME_AT = NODE_BYTES - 16u;
const uint BTREE_VERSION_OLDER_AT = NODE_BYTES - 12u;
const uint BTREE_VERSION_UNTIL_AT = NODE_BYTES - 8u;   // the time of what came behind it; 0: the version is free
const uint BTREE_VERSION_HIGH_AT = NODE_BYTES - (VKDS_WIDE != 0 ? 24u : 4u);   // the leaf's, when it was copied

const uint BTREE_SLOT_QUADS = BTREE_META_AT / 16u;   // of a node: those behind are the header

// A quad of a version: the leaf's, or what stands in place of one of the header.
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

// A slab's bit among those that say which leaves were changed: the address of its word, and its place there.
uvec2 btree_changed_at(uvec2 changed, uint number) { return address_at(changed, number >> 5, 2u); }
uint btree_changed_bit(uint number) { return 1u << (number & 31u); }

// Notes that a leaf's stamp has a time that may be above that of an open snapshot.
void btree_mark_changed(uvec2 changed, uint number) {
    atomic_or(btree_changed_at(changed, number), btree_changed_bit(number));
}

// Whether the stamp of a leaf, by its slab's number, has to be read.
bool btree_was_changed(BTreeVersions v, uint number) {
    return (plain_load(btree_changed_at(v.changed, number)) & btree_changed_bit(number)) != 0u;
}

BTreeStamp btree_stamp(BTreeVersions v, SlabPool pool, uint slab) {
    uvec2 stamp = plain_load2(btree_stamp_at(v, pool, slab));
    return BTreeStamp(stamp.x, stamp.y);
}

// Where a leaf leads to, so that who goes there need not read the end of the version besides.
struct BTreeLead {
    BTreeStamp stamp;
    uint since;   // the time of the version
    uint high;    // its greatest key, where that is a word
};

BTreeLead btree_lead(BTreeVersions v, SlabPool pool, uint slab) {
    uvec4 lead = plain_load4(btree_stamp_at(v, pool, slab));
    return BTreeLead(BTreeStamp(lead.x, lead.y), lead.z, lead.w);
}

// What stands behind a leaf's stamp.
#if VKDS_WIDE
#define VKDS_LEAD(SINCE, HIGH) uvec2(SINCE, 0u)
#else
#define VKDS_LEAD(SINCE, HIGH) uvec2(SINCE, HIGH)
#endif

BTreeStamp btree_version_stamp(BTreeVersions v, uint version) {
    uvec2 stamp = plain_load2(address_add(btree_version_at(v, version), BTREE_VERSION_TIME_AT));
    return BTreeStamp(stamp.x, stamp.y);
}

const uint BTREE_VERSION_LEVEL = ~0u;   // of a search that has come to a version: what it calls a node is its number

// Whether a search for a key that has come to a leaf by way of its parent goes to the right of it at the time of the
// version that the leaf leads to.
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

// Reads a node as it was at a snapshot: the slots that a leaf had then, with the header that it has now. Keys of what
// was kept of it may be outside of its range. Nodes that are no leaves are as they are. Collective.
Node btree_load_kept(BTree tree, uint slab, bool enabled, out bool kept) {
    BTreeVersions at = BTreeVersions(tree.state);
    uvec2 leaf = slab_address(tree.pool, slab);
    BTreeLead lead = BTreeLead(BTreeStamp(0u, 0u), 0u, 0u);
    // The bits would be one more wait in front of this one (docs/benchmarks.md).
    if (enabled && at.now != ~0u) lead = btree_lead(at, tree.pool, slab);
    uint version = lead.stamp.older;
    kept = lead.stamp.time > at.now && version < at.count;
    bool follows = kept && lead.since > at.now;
    for (uint steps = at.count; subgroupAny(follows) && steps != 0u; steps--) {
        BTreeStamp its = BTreeStamp(0u, SLAB_NULL);
        if (follows) its = btree_version_stamp(at, version);
        follows = follows && its.time > at.now;
        // Where nothing is kept, what the leaf holds has to do: only broken memory has such a leaf.
        kept = kept && !(follows && its.older >= at.count);
        version = follows ? its.older : version;
        follows = follows && kept;
    }
    return btree_load(leaf, kept ? btree_version_at(at, version) : leaf, enabled);
}

// The same, with what is outside of its range free. Collective.
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

// Gives a leaf that is split off the stamp of the leaf that it was split from, before anything leads to it. One lane's
// own.
void btree_inherit(BTree tree, uint from, uint to) {
    if (!pool_has(tree.pool, from) || !pool_has(tree.pool, to)) return;   // only a stray write leaves such a slab
    uvec2 stamps = plain_load2(address_add(tree.state, BTREE_STAMPS_AT));
    uvec4 stamp = coherent_load4(address_at(stamps, pool_number(from), BTREE_STAMP_SHIFT));
    coherent_store4(address_at(stamps, pool_number(to), BTREE_STAMP_SHIFT), stamp);
    if (stamp.x != 0u) btree_mark_changed(plain_load2(address_add(tree.state, BTREE_CHANGED_AT)), pool_number(to));
}

// Reads a node of a tree: as it is, or with VKDS_SNAPSHOT as it was. To a walk (btree_walk.glsl), which looks at no key
// outside of the leaf's range. Collective.
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
