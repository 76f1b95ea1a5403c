// Lists the ranges of the leaves that were changed since a snapshot, in no order.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_version.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    BTreeVersions versions;
    uvec2 ranges;   // out: two keys each, the least and the greatest
    uvec2 count;    // out, 0 before: how many there are, also where there was no room
    uint slabs;     // that have stamps
    uint room;
};

void main() {
    uint i = invocation_index();
    bool changed = i < slabs;
    if (changed) changed = plain_load(address_at(versions.stamps, i, 3u)) > versions.now;
    uvec4 all = subgroupBallot(changed);
    uint n = subgroupBallotBitCount(all), before = 0u;
    if (n != 0u && subgroupElect()) before = atomic_add(count, n);
    uint place = subgroupBroadcastFirst(before) + subgroupBallotExclusiveBitCount(all);
    if (!changed || place >= room) return;
    VKDS_HEADER header = VKDS_HEADER_LOAD(plain_load4, slab_address(tree.pool, pool_slab(i)));
    VKDS_STORE_AT(ranges, 2u * place, header.VKDS_LOW);
    VKDS_STORE_AT(ranges, 2u * place + 1u, header.VKDS_HIGH);
}
