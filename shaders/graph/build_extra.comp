// Computes how many slabs the arcs of each bucket take after its base slab, if none are equal, and counts the buckets
// with more arcs than can be compared with each other.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 runs;      // two words per bucket: the first of its arcs, and the one after the last
    uvec2 extra;     // output: a word per bucket
    uvec2 many;      // a counter
    uint buckets;
    uint slots;      // per slab
};

void main() {
    uint i = invocation_index(), arcs = 0u;
    if (i < buckets) {
        uvec2 run = plain_load2(address_at(runs, i, 3u));
        arcs = run.y - run.x;
        plain_store_at(extra, i, arcs == 0u ? 0u : (arcs - 1u) / slots);
    }
    uint too_many = subgroupAdd(arcs > BUILD_COMPARED ? 1u : 0u);
    if (too_many != 0u && subgroupElect()) atomic_add(many, too_many);
}
