// Build: what the kernels of a bulk build share, which go over all edges or arcs.
#ifndef VKDS_GRAPH_BUILD_GLSL
#define VKDS_GRAPH_BUILD_GLSL

#include "graph.glsl"
#include "workgroup.glsl"

// An invocation has several items, so that it waits for several loads at once. Those of a workgroup are consecutive.
const uint BUILD_EACH = 4u;

uint build_first() { return workgroup_index() * WORKGROUP * BUILD_EACH + workgroup_lane(); }
uint build_item(uint first, uint k) { return first + k * WORKGROUP; }

// What is noted of the edges and the buckets of vertices, in one word.
const uint BUILD_WRONG = 1u;     // an end of an edge is not a valid vertex
const uint BUILD_LESS = 2u;      // an edge is left out
const uint BUILD_LONG = 4u;      // a vertex with several buckets has more than BUILD_ORDERED arcs

const uint BUILD_ORDERED = 128u;   // the most arcs of a vertex that a subgroup brings into order

const uint BUILD_COMPARED = 512u;   // the most arcs of a bucket that are compared with each other

struct BuildEdges {
    uvec2 from;    // words
    uvec2 to;
    uint count;
    uint both;     // 1: an edge is two arcs
    uint loops;    // 0: edges from a vertex to itself are left out
};

// The ends of an edge. Returns how many arcs it is.
uint build_edge(BuildEdges e, uint i, out uint a, out uint b) {
    a = plain_load_at(e.from, i);
    b = plain_load_at(e.to, i);
    return a == b ? e.loops : 1u + e.both;
}

#endif
