// Begins a dispatch with a moving clock (btree_clock.glsl): what its kernels find in the tree's counters, and, where no
// snapshot of the host's is open, that all versions are free, whatever dispatches before have left in them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_clock.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTreeVersions versions;   // as of the dispatch's first time
    uvec2 state;              // the tree's counters
    uint last;                // time that a snapshot may have
    uint forgets;             // 1: all versions are free
};

void main() {
    uint i = invocation_index();
    if (i == 0u) {
        plain_store2(address_add(state, BTREE_VERSIONS_AT), uvec2(versions));
        plain_store(address_add(state, BTREE_LAST_AT), last);
        plain_store(address_add(state, BTREE_CLOCK_AT), versions.now);
        if (forgets != 0u) plain_store(versions.free, versions.count);
    }
    if (forgets != 0u && i < versions.count) plain_store_at(versions.free, i + 1u, i);
}
