// Computes how many slabs the arcs of each bucket take after its base slab, if no arcs are equal.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 runs;      // two words per bucket: the first of its arcs, and the one after the last
    uvec2 extra;     // output: a word per bucket
    uint buckets;
    uint slots;      // per slab
};

void main() {
    uint i = invocation_index();
    if (i >= buckets) return;
    uvec2 run = plain_load2(address_at(runs, i, 3u));
    plain_store_at(extra, i, run.y == run.x ? 0u : (run.y - run.x - 1u) / slots);
}
