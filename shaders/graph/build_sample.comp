// Counts, in a sample of buckets, the first arcs, and those of them that equal none after them. One tile per bucket.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build_equal.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 runs;      // two words per bucket: the first of its arcs, and the one after the last
    uvec2 targets;   // of arcs
    uvec2 counts;    // output: two counters
    uint shift;      // log2 of the bytes from one target to the next
    uint buckets;
    uint each;       // one of so many buckets is in the sample
    uint count;      // the number of arcs
};

void main() {
    uint bucket = invocation_index() / TILE * each, at = 0u, end = 0u;
    if (bucket < buckets) {
        uvec2 run = plain_load2(address_at(runs, bucket, 3u));
        end = min(run.y, count);
        at = min(run.x, end);
        end = min(end, at + HELD * TILE);
    }
    uint held[HELD], there = 0u;
    [[unroll]] for (uint c = 0u; c < HELD; c++) {
        uint i = at + c * TILE + tile_lane();
        held[c] = target_at(targets, shift, i, end);
        there |= (i < end ? 1u : 0u) << c;
    }
    uint last = last_of_equal(targets, shift, held, at, end) & there;
    uint all = subgroupAdd(uint(bitCount(there))), differ = subgroupAdd(uint(bitCount(last)));
    if (all != 0u && subgroupElect()) {
        atomic_add(counts, all);
        atomic_add(address_add(counts, 4u), differ);
    }
}
