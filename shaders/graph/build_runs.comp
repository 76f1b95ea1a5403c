// Finds the sorted arcs of each bucket.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;      // the numbers of buckets, ascending,
    uint shift;      // log2 of the bytes from one to the next
    uint count;
    uvec2 runs;      // two words per bucket, 0 at first; output: the first of its arcs, and the one after the last
    uint buckets;    // keys from here on are left out
};

void main() {
    uint first = build_first();
    uint before[BUILD_EACH], key[BUILD_EACH];   // of the arcs i-1 and i, for i from 0 to count
    [[unroll]] for (uint k = 0u; k < BUILD_EACH; k++) {
        uint i = build_item(first, k);
        before[k] = key[k] = buckets;
        if (i > 0u && i <= count) before[k] = plain_load(address_at(keys, i - 1u, shift));
        if (i < count) key[k] = plain_load(address_at(keys, i, shift));
    }
    [[unroll]] for (uint k = 0u; k < BUILD_EACH; k++) {
        uint i = build_item(first, k);
        if (before[k] == key[k]) continue;
        if (before[k] < buckets) plain_store_at(runs, 2u * before[k] + 1u, i);
        if (key[k] < buckets) plain_store_at(runs, 2u * key[k], i);
    }
}
