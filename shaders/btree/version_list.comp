// Lists the leaves that were changed between two snapshots, from a key on, in no order.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_version.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    BTreeVersions versions;   // at the later snapshot
    uvec2 lows;     // output: the lows of the leaves
    uvec2 leaves;   // output: their slabs
    uvec2 count;    // output, 0 before: the number of leaves, also of those that did not fit
    uvec2 from;     // the key
    uint slabs;     // the number of slabs with stamps
    uint room;
    uint since;     // the time of the earlier snapshot
};

// The time when leaf i got the contents that it had at the later snapshot; 0 if its bit says that it was not changed.
uint held_since(uint i) {
    if (!btree_was_changed(versions, i)) return 0u;
    uvec2 stamp = plain_load2(address_at(versions.stamps, i, BTREE_STAMP_SHIFT));
    for (uint steps = versions.count; stamp.x > versions.now && stamp.y < versions.count && steps != 0u; steps--) {
        BTreeStamp older = btree_version_stamp(versions, stamp.y);
        stamp = uvec2(older.time, older.older);
    }
    return stamp.x;
}

void main() {
    uint i = invocation_index();
    bool changed = i < slabs;
    if (changed) changed = held_since(i) > since;
    VKDS_HEADER header = VKDS_NO_HEADER;
    if (changed) header = VKDS_HEADER_LOAD(plain_load4, slab_address(tree.pool, pool_slab(i)));
#if VKDS_WIDE
    K first = from;
#else
    K first = from.x;
#endif
    changed = changed && VKDS_UP_TO(first, header.VKDS_HIGH);
    uvec4 all = subgroupBallot(changed);
    uint n = subgroupBallotBitCount(all), before = 0u;
    if (n != 0u && subgroupElect()) before = atomic_add(count, n);
    uint place = subgroupBroadcastFirst(before) + subgroupBallotExclusiveBitCount(all);
    if (!changed || place >= room) return;
    VKDS_STORE_AT(lows, place, header.VKDS_LOW);
    plain_store_at(leaves, place, pool_slab(i));
}
