// Frees the versions that no open snapshot needs. version_relink.comp has removed all references to them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "version_open.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTreeVersions versions;
    OpenSnapshots open;
};

void main() {
    uint i = invocation_index();
    bool dead = i < versions.count;
    if (dead) {
        Version v = version_load(versions, i);
        dead = v.until != 0u && !version_needed(open, v);
    }
    if (dead) plain_store(address_add(btree_version_at(versions, i), BTREE_VERSION_UNTIL_AT), 0u);
    uvec4 all = subgroupBallot(dead);
    uint n = subgroupBallotBitCount(all), before = 0u;
    if (n != 0u && subgroupElect()) before = atomic_add(versions.free, n);
    uint place = subgroupBroadcastFirst(before) + subgroupBallotExclusiveBitCount(all);
    if (dead && place < versions.count) plain_store_at(versions.free, place + 1u, i);
}
