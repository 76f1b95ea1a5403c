// B-link-tree clock: snapshots that kernels take inside a dispatch, while other invocations of it change the tree.
// Compile all kernels of such a dispatch with VKDS_CLOCK. The host must prepare the dispatch (btree.InShaders.On and
// DeviceBatch.OwnMoments in Go), because it reserves versions and times.
//
// After Awad's dissertation (2022), section 4.4, with the versions of btree_version.glsl. To take a snapshot, a kernel
// increments a clock in memory; the snapshot's time is the clock's old value. With VKDS_CLOCK leaves are changed only
// under their latches. After an update has latched a leaf, it reads the clock by an atomic that writes the clock back.
// So each snapshot is taken either before or after that, and for all readers the change is at that time. If a snapshot
// was taken since the time in the leaf's stamp, the update does these steps, with a fence after each:
//   1. copy the leaf's contents to a version
//   2. store the version's number in the stamp
//   3. store the clock's time in the stamp
//   4. change the leaf
//
// To read a leaf at a time, a reader reads the meta, the stamp's time and the slots; then, after a fence, the header
// again, and the stamp's version. If the stamp's time is later than the reader's, the reader follows the versions from
// that one to the one of its time, and takes the leaf's range from the second header. Otherwise the slots are valid if
// the header is unchanged and not latched; if not, the leaf is read again. The stamp's time need not be read again: an
// update that changed the slots since then shows its latch, or a later meta, in the second read. test/models has the
// protocol, and what goes wrong without each part of it (versions_clock_test.go).
//
// Leaves changed by such kernels may be changed by kernels without VKDS_CLOCK later: their empty slots have version 0.
#ifndef VKDS_BTREE_CLOCK_GLSL
#define VKDS_BTREE_CLOCK_GLSL

#include "btree_version.glsl"
#include "btree_view.glsl"

// Byte offsets in the tree's state (like BTREE_…_AT of btree_node.glsl), valid during such a dispatch.
const uint BTREE_VERSIONS_AT = 24u;   // the address of the tree's BTreeVersions, as of the dispatch's first time
const uint BTREE_LAST_AT = 32u;       // the last time that a snapshot may have
const uint BTREE_CLOCK_AT = 128u;     // the clock, in its own cache line

const uint BTREE_NEWEST = ~0u;   // instead of a snapshot's time: the contents at the time of the read

BTreeVersions btree_versions(BTree tree) {
    return BTreeVersions(plain_load2(address_add(tree.state, BTREE_VERSIONS_AT)));
}

// Adds `more` to the clock, if any lane has `want`, and returns its old value, limited to the times that the host has
// reserved. Collective.
uint btree_clock(BTree tree, bool want, uint more) {
    uint time = 0u;
    bool any = subgroupAny(want);
    if (any && subgroupElect()) time = atomic_add(address_add(tree.state, BTREE_CLOCK_AT), more);
    return min(subgroupBroadcastFirst(time), plain_load(address_add(tree.state, BTREE_LAST_AT)) + 1u - more);
}

// Takes a snapshot for the subgroup, if any of its lanes has `want`, and returns its time. It contains all earlier
// changes by the subgroup's lanes, and is valid until the dispatch ends. If kernels take more snapshots than the host
// has reserved times for, the further ones get the last time. Collective.
uint btree_snapshot(BTree tree, bool want) { return btree_clock(tree, want, 1u); }

// Whether and where a latched leaf's contents must be kept before it is changed.
struct BTreeKeep {
    BTreeStamp stamp;   // the leaf's stamp
    uint now;           // the time of the change
    bool wanted;        // whether a snapshot needs the leaf's contents
    uint version;       // the version to copy them to; SLAB_NULL: none is free
};

// Takes a free version for each lane with `want`, and returns its number, or SLAB_NULL if none is free. No version is
// freed while a dispatch runs, so after one failure all later calls fail. Collective.
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

// Decides whether the leaves that lanes have latched must be kept, and takes versions for that. A fence must come after
// the latching. `spare` is a version that the lane has taken before and not used, or SLAB_NULL. Collective.
BTreeKeep btree_keep(BTree tree, uint leaf, bool latched, inout uint spare) {
    BTreeVersions v = btree_versions(tree);
    BTreeKeep k = BTreeKeep(BTreeStamp(~0u, SLAB_NULL), btree_clock(tree, latched, 0u), false, SLAB_NULL);
    uint from = k.now > v.now ? k.now : v.protects == 0u ? 0u : v.protects + 1u;   // after the newest snapshot
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

// Records in a leaf's stamp that a version, which must be written before, has its old contents. For one lane.
void btree_keep_stamp(BTree tree, uint leaf, BTreeKeep k, K high) {
    BTreeVersions v = btree_versions(tree);
    uvec2 at = btree_stamp_at(v, tree.pool, leaf);
    // For kernels after this dispatch.
    btree_mark_changed(v.changed, pool_number(leaf));
    coherent_store2(address_add(at, 8u), VKDS_LEAD(k.stamp.time, high));
    release_fence();
    atomic_store(address_add(at, 4u), k.version);
    release_fence();
    atomic_store(at, k.now);
    release_fence();
}

// Marks a version that was taken and not used, so that it is freed like versions that no snapshot needs. For one lane.
void btree_spare_version(BTree tree, uint version) {
    BTreeVersions v = btree_versions(tree);
    if (version < v.count) {
        coherent_store4(address_add(btree_version_at(v, version), BTREE_VERSION_TIME_AT), uvec4(~0u, ~0u, 1u, 0u));
    }
}

// Reads a leaf as it was at a time, like btree_view. The header is the current one. Visits of versions are added to
// `visits`. Collective.
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
