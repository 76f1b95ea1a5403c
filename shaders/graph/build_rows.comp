// Finds the first of the sorted arcs of each vertex, and its number of buckets: 0 if it has no arcs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build.glsl"
#include "length.glsl"
#include "search.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 arcs;      // numbers of 64 bits, ascending, without duplicates
    uvec2 begins;    // output: vertices + 1 words
    uvec2 needs;     // output: one word per vertex
    Length count;    // the number of arcs
    uint vertices;
    uint slots;      // per slab
    float each;      // the average number of arcs per bucket, if a vertex gets several buckets
    uint most;       // the greatest number of buckets of a vertex
};

void main() {
    uint i = invocation_index(), n = length_of(count);
    if (i > vertices) return;
    uint begin = n, end = n;
    if (i < vertices) begin = lower_bound(arcs, 0u, n, uvec2(0u, i));
    plain_store_at(begins, i, begin);
    if (i >= vertices) return;
    if (i + 1u < vertices) {   // steps that double, because most rows are short
        uint step = 16u;
        end = begin;
        while (end < n && plain_load2(address_at(arcs, end, 3u)).y == i) {
            end = n - end < step ? n : end + step;
            step <<= 1;
        }
        end = lower_bound(arcs, begin, end, uvec2(0u, i + 1u));
    }
    uint edges = end - begin;
    uint need = edges == 0u ? 0u : edges <= slots ? 1u : min(uint(ceil(float(edges) / each)), most);
    plain_store_at(needs, i, need);
}
