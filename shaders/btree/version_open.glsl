// Open versions: finds the versions of a tree's leaves that are needed, because they were valid at the time of an open
// snapshot.
#ifndef VKDS_BTREE_VERSION_OPEN_GLSL
#define VKDS_BTREE_VERSION_OPEN_GLSL

#include "btree_version.glsl"

// The times of the open snapshots.
struct OpenSnapshots {
    uvec2 times;   // ascending words
    uint count;    // at least 1
    uint oldest;
};

// A version's words in place of a header. If `until` is 0, the version is free.
struct Version {
    BTreeStamp stamp;
    uint until;
};

Version version_load(BTreeVersions v, uint version) {
    uvec4 words = plain_load4(address_add(btree_version_at(v, version), BTREE_VERSION_TIME_AT));
    return Version(BTreeStamp(words.x, words.y), words.z);
}

// The number of open snapshots with a time below the given one.
uint version_opened_before(OpenSnapshots open, uint time) {
    uint begin = 0u, end = open.count;
    while (begin < end) {
        uint middle = begin + ((end - begin) >> 1);
        if (plain_load_at(open.times, middle) < time) begin = middle + 1u;
        else end = middle;
    }
    return begin;
}

bool version_needed(OpenSnapshots open, Version v) {
    uint first = version_opened_before(open, v.stamp.time);
    if (first == open.count) return false;
    return plain_load_at(open.times, first) < v.until;
}

#endif
