// Computes the initial ranks, the gifts, and for each workgroup the sum of the ranks of its vertices without arcs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "pagerank.glsl"

layout(push_constant, std430) uniform Push {
    Rows graph;
    uvec2 ranks;
    uvec2 gifts;
    uvec2 partials;   // output: one pair of floats per workgroup
    uvec2 control;
    uint given;       // 1: the ranks are input
};

void main() {
    uint v = workgroup_index() * WORKGROUP + workgroup_lane();
    float dangling = 0.0;
    if (v < graph.vertices) {
        float rank = given != 0u ? float_load_at(ranks, v) : 1.0 / float(graph.vertices);
        uint arcs = row_degree(graph, v);
        float_store_at(ranks, v, rank);
        float_store_at(gifts, v, arcs != 0u ? rank / float(arcs) : 0.0);
        if (arcs == 0u) dangling = rank;
    }
    vec2 total = workgroup_total(vec2(dangling, 0.0));
    if (workgroup_lane() == 0u && workgroup_index() * WORKGROUP < max(graph.vertices, 1u))
        plain_store2(address_at(partials, workgroup_index(), 3u), floatBitsToUint(total));
    if (v < RANK_WORDS) plain_store_at(control, v, 0u);
}
