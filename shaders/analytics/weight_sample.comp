// Samples the weights of a graph: one of a vertex in each of `count` parts of the vertices, which are equally large.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "hash.glsl"
#include "invocation.glsl"
#include "neighbors.glsl"

layout(push_constant, std430) uniform Push {
    Rows graph;
    uvec2 samples;   // one word for each part; ~0 if no arc was found
    uint count;
};

const uint TRIES = 64u;   // vertices of a part, and places of a lane, that are looked at

// The first vertex of a part. i * rest fits a word, because `count` is at most 2^16.
uint part_begin(uint i) {
    uint whole = graph.vertices / count, rest = graph.vertices % count;
    return i * whole + i * rest / count;
}

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uint first = part_begin(i), end = part_begin(i + 1u), sampled = ~0u;
    uint step = max((end - first + TRIES - 1u) / TRIES, 1u);
    // Any vertex of each step, and any of its arcs: those with arcs may be every other one, and the first arcs may all
    // lead to one hub, with weights unlike the others.
    for (uint at = first; at < end && sampled == ~0u; at += step) {
        uint any = hash_mix(at), v = at + hash_reduce(any, min(step, end - at));
        Row row = row_of(graph, v);
        if (row.lanes == 0u) continue;
        uint place = row.first + hash_reduce(hash_mix(any), row.lanes);
        // In a live graph that loses its oldest edges, the first places of all lanes are erased.
        bool there = neighbor_there(neighbor_at(graph, place));
        for (uint left = TRIES; LANES_GO_ON && !there && left != 0u; left--) {
            place = place_behind(graph, place, row_step(row));
            if (place == PLACE_NONE) break;
            there = neighbor_there(neighbor_at(graph, place));
        }
        if (there) sampled = weight_at(graph, place);
    }
    plain_store_at(samples, i, sampled);
}
