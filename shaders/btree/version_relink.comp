// Makes leaves and versions refer to needed versions only, before the versions that no open snapshot needs are freed.
// Leaves that were not changed after the oldest open snapshot are marked as unchanged again.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "version_open.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTreeVersions versions;
    OpenSnapshots open;
    uint slabs;       // the number of leaves' stamps. Invocations after them do versions
};

// The first needed version of a chain from one on; SLAB_NULL if there is none.
uint needed_from(uint version) {
    for (uint steps = versions.count; version < versions.count && steps != 0u; steps--) {
        Version v = version_load(versions, version);
        if (version_needed(open, v)) return version;
        if (v.stamp.time <= open.oldest) break;   // its predecessor is older than all snapshots
        version = v.stamp.older;
    }
    return SLAB_NULL;
}

void main() {
    uint i = invocation_index();
    uvec2 at = address_at(versions.stamps, i, BTREE_STAMP_SHIFT);
    BTreeStamp stamp = BTreeStamp(0u, SLAB_NULL);
    if (i < slabs) {
        uvec2 words = plain_load2(at);
        stamp = BTreeStamp(words.x, words.y);
        if (stamp.time <= open.oldest && btree_was_changed(versions, i))
            atomic_and(btree_changed_at(versions.changed, i), ~btree_changed_bit(i));
    } else if (i - slabs < versions.count) {
        at = address_add(btree_version_at(versions, i - slabs), BTREE_VERSION_TIME_AT);
        Version v = version_load(versions, i - slabs);
        if (v.until != 0u && version_needed(open, v)) stamp = v.stamp;
    }
    if (stamp.time <= open.oldest) return;
    uint older = needed_from(stamp.older);
    if (older == stamp.older) return;
    plain_store(address_add(at, 4u), older);
    if (i < slabs && older != SLAB_NULL) {
        uvec2 version = btree_version_at(versions, older);
        uint since = btree_version_stamp(versions, older).time;
        plain_store2(address_add(at, 8u), VKDS_LEAD(since, plain_load(address_add(version, BTREE_VERSION_HIGH_AT))));
    }
}
