// Computes the numbers of buckets that vertices should get: 0 if a vertex keeps its buckets.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "buckets.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    Graph graph;
    uvec2 needs;    // output: one word per vertex
    uint extent;    // the number of vertices
    uint mode;      // PLAN_…
    uint slots;     // per slab
    float each;     // the average number of arcs per bucket, if a vertex gets several buckets
    uint most;      // the greatest number of buckets of a vertex
};

const uint PLAN_GROWING = 0u;   // vertices that insertions wait for, or that are too full
const uint PLAN_FITTING = 1u;   // all vertices whose number of buckets doesn't fit their degree
const uint PLAN_HUBS = 2u;      // changes nothing: the numbers of buckets that hubs have

void main() {
    uint i = invocation_index();
    if (i >= extent) return;
    uvec2 at = graph_vertex_at(graph, i);
    GraphVertex v = graph_vertex_of(plain_load4(at));
    uint waiting = v.state & ~GRAPH_DELETED;
    if (mode != PLAN_HUBS && waiting != 0u) plain_store(address_add(at, GRAPH_STATE_AT), v.state & GRAPH_DELETED);
    uint edges = v.degree + (mode == PLAN_GROWING ? waiting : 0u);
    uint right = buckets_for(edges, slots, each, most);
    uint bound = v.buckets > ~0u / graph.most ? ~0u : v.buckets * graph.most;
    bool grows = edges > bound && right > v.buckets;
    bool fits = right > v.buckets ? edges > v.buckets * slots : right + (right >> 1) < v.buckets;
    uint need = 0u;
    if (mode == PLAN_HUBS) need = v.buckets > 1u ? v.buckets : 0u;
    else if (mode == PLAN_GROWING ? grows : fits) need = right;
    plain_store_at(needs, i, need);
}
