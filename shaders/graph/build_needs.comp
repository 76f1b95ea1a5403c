// Computes how many buckets each vertex gets: 0 if it has no arcs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "buckets.glsl"
#include "build.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 degrees;   // a word per vertex, or
    uvec2 offsets;   // if not 0, the offsets of compressed sparse rows
    uvec2 needs;     // output: a word per vertex; may be degrees
    uvec2 noted;     // a word: BUILD_…
    uint vertices;
    uint slots;      // per slab
    float each;      // the average number of arcs per bucket, if a vertex gets several buckets
    uint most;       // the greatest number of buckets of a vertex
};

void main() {
    uint i = invocation_index();
    if (i >= vertices) return;
    uint degree;
    if (offsets == uvec2(0u)) degree = plain_load_at(degrees, i);
    else degree = plain_load_at(offsets, i + 1u) - plain_load_at(offsets, i);
    uint need = degree == 0u ? 0u : buckets_for(degree, slots, each, most);
    plain_store_at(needs, i, need);
    if (need > 1u && degree > BUILD_ORDERED) atomic_or(noted, BUILD_LONG);
}
