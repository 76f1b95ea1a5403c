// Adds new versions to the free ones.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_version.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTreeVersions versions;
    uvec2 old;      // the old list of free versions
    uint had;       // the old number of versions
};

void main() {
    uint i = invocation_index(), before = 0u;
    if (had != 0u) before = min(plain_load(old), had);
    if (i == 0u) plain_store(versions.free, before + versions.count - had);
    if (i >= versions.count) return;
    uint version = i;
    if (i < before) version = plain_load_at(old, i + 1u);
    else version = i - before + had;
    if (version >= versions.count) return;
    plain_store_at(versions.free, i + 1u, version);
    if (i >= before) plain_store(address_add(btree_version_at(versions, version), BTREE_VERSION_UNTIL_AT), 0u);
}
