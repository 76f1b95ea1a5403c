// Finds the first of the sorted arcs of each vertex, and the number of buckets that it gets: 0 if it has no arcs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build.glsl"
#include "length.glsl"
#include "search.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 arcs;      // numbers of 64 bits, ascending, each once
    uvec2 begins;    // a word a vertex and one, out
    uvec2 needs;     // a word a vertex, out
    Length count;    // arcs
    uint vertices;
    uint slots;      // of a slab
    float each;      // edges that a bucket is to have on average where there are several
    uint most;       // buckets of a vertex
};

void main() {
    uint i = invocation_index(), n = length_of(count);
    if (i > vertices) return;
    uint begin = n, end = n;
    if (i < vertices) begin = lower_bound(arcs, 0u, n, uvec2(0u, i));
    plain_store_at(begins, i, begin);
    if (i >= vertices) return;
    if (i + 1u < vertices) {   // by steps that double: rows are short, as a rule
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
