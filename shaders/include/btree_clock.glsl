// A moving clock: snapshots of a B-link-tree that kernels take inside a dispatch, while others of it change the tree.
// Compile all of the kernels of such a dispatch with VKDS_CLOCK, and have the tree's host prepare it (btree.Tree.On
// and DeviceBatch.OwnMoments in Go), since versions and times are the host's to reserve.
//
// After Awad's dissertation (2022), section 4.4, on the versions of btree_version.glsl. Who takes a snapshot adds to a
// clock in memory: the snapshot is of the time that the clock showed. With VKDS_CLOCK leaves are changed under their
// latches alone. Who has a leaf's latch reads the clock behind it, by an atomic that writes the clock back: so each
// snapshot is taken before that or behind it, and that is the change's moment for all who read. Is one taken since the
// leaf's stamp, then what the leaf holds goes into a version first, then into the stamp which version that is, then the
// clock's time, and then the leaf is changed: a fence each.
//
// A reader at a time looks at a leaf twice, with a fence between: at its meta, its stamp's time, its slots, and
// once more at its header, and at which version its stamp leads to. Was the time later, then the version that held is
// found from that one, and the leaf's range is that of the second header. Was it not, then the slots are what there
// was, if the meta and the header are the same all the time, and not latched. Else it looks again. The stamp's time
// need not be asked again: who changed what was read since has the latch by the second look, or has a later meta.
// test/models has the protocol, and what goes wrong without each part of it (versions_clock_test.go).
//
// What such kernels leave in a leaf suits those that change leaves without a latch: empty slots are of version 0.
#ifndef VKDS_BTREE_CLOCK_GLSL
#define VKDS_BTREE_CLOCK_GLSL

#include "btree_version.glsl"
#include "btree_view.glsl"

// Byte offsets in the tree's counters (BTREE_…_AT): during such a dispatch,
const uint BTREE_VERSIONS_AT = 24u;   // the address of its BTreeVersions, as of the dispatch's first time;
const uint BTREE_LAST_AT = 32u;       // the last time that a snapshot may have;
const uint BTREE_CLOCK_AT = 128u;     // the clock, in a line of its own

const uint BTREE_NEWEST = ~0u;   // instead of a snapshot's time: what the tree holds when it is read

BTreeVersions btree_versions(BTree tree) {
    return BTreeVersions(plain_load2(address_add(tree.state, BTREE_VERSIONS_AT)));
}

// The clock, to which something is added if any lane wants it: what it showed, but for times that the host has not
// reserved. Collective.
uint btree_clock(BTree tree, bool want, uint more) {
    uint time = 0u;
    bool any = subgroupAny(want);
    if (any && subgroupElect()) time = atomic_add(address_add(tree.state, BTREE_CLOCK_AT), more);
    return min(subgroupBroadcastFirst(time), plain_load(address_add(tree.state, BTREE_LAST_AT)) + 1u - more);
}

// Takes a snapshot, for all lanes of the subgroup if any of them wants one: its time. What the subgroup's lanes have
// done before is in it. It holds until the dispatch ends. Where more are taken than the host has reserved times for,
// those that are too many are what the last one is. Collective.
uint btree_snapshot(BTree tree, bool want) { return btree_clock(tree, want, 1u); }

// What has to be kept of a latched leaf before it is changed.
struct BTreeKeep {
    BTreeStamp stamp;   // the leaf's
    uint now;           // the time of the change
    bool wanted;        // a snapshot needs what the leaf holds
    uint version;       // where it goes; SLAB_NULL: none is free
};

// Takes versions for the lanes that want one, SLAB_NULL where none is free. None comes back while a dispatch runs, so
// what is refused once is refused to all who come later. Collective.
uint btree_take_version(BTreeVersions v, bool want) {
    uvec4 all = subgroupBallot(want);
    uint n = subgroupBallotBitCount(all), first = 0u;
    if (n != 0u && subgroupElect()) first = atomic_add(v.free, 0u - n);
    uint place = subgroupBroadcastFirst(first) - subgroupBallotExclusiveBitCount(all);
    bool there = want && place - 1u < v.count;
    uint refused = n - subgroupBallotBitCount(subgroupBallot(there));
    if (refused != 0u && subgroupElect()) atomic_add(v.free, refused);
    uint version = SLAB_NULL;
    if (there) version = plain_load_at(v.free, place);
    return version < v.count ? version : SLAB_NULL;
}

// What is to be kept of the leaves that lanes have latched, and fenced, to change them. spare: a version that the lane
// has taken before. Collective.
BTreeKeep btree_keep(BTree tree, uint leaf, bool latched, inout uint spare) {
    BTreeVersions v = btree_versions(tree);
    BTreeKeep k = BTreeKeep(BTreeStamp(~0u, SLAB_NULL), btree_clock(tree, latched, 0u), false, SLAB_NULL);
    uint from = k.now > v.now ? k.now : v.protects == 0u ? 0u : v.protects + 1u;   // behind the newest snapshot
    if (latched && pool_has(tree.pool, leaf)) {
        uvec2 stamp = coherent_load2(btree_stamp_at(v, tree.pool, leaf));
        k.stamp = BTreeStamp(stamp.x, stamp.y);
    }
    k.wanted = k.stamp.time < from;
    uint taken = btree_take_version(v, k.wanted && spare == SLAB_NULL);
    spare = spare == SLAB_NULL ? taken : spare;
    k.version = k.wanted ? spare : SLAB_NULL;
    return k;
}

// Says in a leaf's stamp that what it held is in a version, which is written already. One lane's own.
void btree_keep_stamp(BTree tree, uint leaf, BTreeKeep k, K high) {
    BTreeVersions v = btree_versions(tree);
    uvec2 at = btree_stamp_at(v, tree.pool, leaf);
    // For those that come behind this dispatch.
    btree_mark_changed(v.changed, pool_number(leaf));
    coherent_store2(address_add(at, 8u), VKDS_LEAD(k.stamp.time, high));
    release_fence();
    atomic_store(address_add(at, 4u), k.version);
    release_fence();
    atomic_store(at, k.now);
    release_fence();
}

// Ends a version that was taken for nothing: it is of no time, and freed as those are that no snapshot needs. One
// lane's own.
void btree_spare_version(BTree tree, uint version) {
    BTreeVersions v = btree_versions(tree);
    if (version < v.count) {
        coherent_store4(address_add(btree_version_at(v, version), BTREE_VERSION_TIME_AT), uvec4(~0u, ~0u, 1u, 0u));
    }
}

// btree_view of a leaf as it was at a time. The header is today's. Visits of versions count. Collective.
bool btree_view_at(BTree tree, uint slab, uint time, bool busy, uint budget, inout uint visits, out Node n,
                   out NodeHeader header) {
    BTreeVersions v = btree_versions(tree);
    uvec2 leaf = slab_address(tree.pool, slab), stamp_at = btree_stamp_at(v, tree.pool, slab);
    bool stamped = busy && time != BTREE_NEWEST && pool_has(tree.pool, slab);
    uint before = 0u, since = 0u;
    if (busy) before = atomic_load(address_add(leaf, BTREE_META_AT));
    acquire_fence();
    if (stamped) since = atomic_load(stamp_at);
    n = node_load_coherent(leaf, busy);
    header = btree_header(n);
    bool same = tile_ballot(before != header.meta) == 0u;
    acquire_fence();
    VKDS_HEADER again = VKDS_NO_HEADER;
    uint older = SLAB_NULL;
    if (busy) again = VKDS_HEADER_LOAD(coherent_load4, leaf);
    if (stamped) older = atomic_load(address_add(stamp_at, 4u));
    bool stands = leaf_stands(header, again), later = tile_ballot(since > time) != 0u;
    bool right = same && stands;
    if (subgroupAny(later)) {
        NodeHeader now = VKDS_HEADER_OF(again);
        now = NodeHeader(tile_shuffle(now.meta, 0u), tile_shuffle(now.low, 0u), tile_shuffle(now.high, 0u),
                         tile_shuffle(now.link, 0u));
        if (later) header = now;
        right = right && !later;
        uint version = tile_shuffle(older, 0u);
        bool follows = later && version < v.count;
        for (; subgroupAny(follows) && visits < budget; visits++) {
            Node then = node_load_coherent(btree_version_at(v, follows ? version : 0u), follows);
            uvec2 its = tile_shuffle(VKDS_NODE_QUAD(then, (NODE_QUADS - 1u)).xy, NODE_LAST_LANE);
            bool arrived = follows && its.x <= time;
            [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++)
                if (arrived && btree_lane_has(m)) n.pair[m] = then.pair[m];
            right = right || arrived;
            version = its.y;
            follows = follows && !arrived && version < v.count;
        }
    }
    return right;
}

#endif
