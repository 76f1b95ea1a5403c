// Computes how many slabs the arcs of each bucket take after its base slab, and finds out whether many arcs are equal:
// by a sample of the buckets, and by buckets with more arcs than can be compared with each other.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 runs;      // two words per bucket: the first of its arcs, and the one after the last
    uvec2 targets;   // of arcs
    uvec2 extra;     // output: a word per bucket
    uvec2 counts;    // three counters: buckets with too many arcs, and in the sample all arcs and how many differ
    uint shift;      // log2 of the bytes from one target to the next
    uint buckets;
    uint slots;      // per slab
    uint each;       // one of so many buckets is in the sample; 0: none
    uint count;      // the number of arcs
};

const uint COMPARED = 32u;   // the first arcs of a bucket in the sample

// How many of n arcs from index `at` on have another target than all before them. With all of them in an array, it took
// longer.
uint different(uint at, uint n) {
    uint all = 0u;
    for (uint i = 0u; i < n; i++) {
        uint target = plain_load(address_at(targets, at + i, shift));
        bool is = true;
        for (uint j = 0u; j < i && is; j++) is = plain_load(address_at(targets, at + j, shift)) != target;
        all += uint(is);
    }
    return all;
}

void main() {
    uint i = invocation_index(), compared = 0u, differ = 0u;
    bool too_many = false, sampled = each != 0u && i < buckets && i % each == 0u;
    if (i < buckets) {
        uvec2 run = plain_load2(address_at(runs, i, 3u));
        uint end = min(run.y, count), at = min(run.x, end);
        uint n = end - at;
        too_many = n > BUILD_COMPARED;
        plain_store_at(extra, i, n == 0u ? 0u : (n - 1u) / slots);
        if (sampled) {
            compared = min(n, COMPARED);
            differ = different(at, compared);
        }
    }
    uint all = subgroupAdd(compared), all_differ = subgroupAdd(differ), many = subgroupAdd(uint(too_many));
    if (subgroupElect()) {
        if (many != 0u) atomic_add(counts, many);
        if (all != 0u) {
            atomic_add(address_add(counts, 4u), all);
            atomic_add(address_add(counts, 8u), all_differ);
        }
    }
}
