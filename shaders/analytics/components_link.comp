// Links vertices with those at the other ends of some of their arcs, or of all.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "link.glsl"
#include "invocation.glsl"
#define STAGE WORKGROUP
#include "stage.glsl"

layout(push_constant, std430) uniform Push {
    Graph graph;
    uvec2 labels;
    uvec2 left;     // a word: not 0 if a link was given up
    uvec2 frequent;   // 0, or a word: vertices with this label are left out
    uint skip;      // arcs of a row before the first
    uint most;      // and how many of them
};

void main() {
    uint v = workgroup_index() * WORKGROUP + workgroup_lane();
    Row part = Row(0u, 0u);
    if (v < graph.vertices) {
        bool out_of_it = false;
        if ((frequent.x | frequent.y) != 0u) out_of_it = atomic_load(label_at(labels, v)) == plain_load(frequent);
        if (!out_of_it) {
            part = row_of(graph, v);
            uint skipped = min(skip, part.lanes);
            part = Row(part.first + skipped, min(part.lanes - skipped, most));
        }
    }
    uint total = stage_put(v, part, 0u);
    for (uint lane = workgroup_lane(); lane < total; lane += WORKGROUP) {
        uint i = stage_find(lane) & (STAGE - 1u);
        if (!link(labels, stage_vertices[i], neighbor_at(graph, stage_firsts[i] + lane))) atomic_or(left, 1u);
    }
}
