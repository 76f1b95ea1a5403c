// Begins a dispatch with a moving clock (btree_clock.glsl): writes into the tree's state what the dispatch's kernels
// need. If the host has no open snapshot, it also frees all versions, whatever earlier dispatches have left in them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_clock.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTreeVersions versions;   // at the dispatch's first time
    uvec2 state;              // the tree's state
    uint last;                // the last time that a snapshot may have
    uint forgets;             // 1: free all versions
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
