// Links vertices with the targets of all or some of their arcs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "link.glsl"
#include "dispatches.glsl"
#define STAGE WORKGROUP
#include "stage.glsl"

layout(push_constant, std430) uniform Push {
    Rows graph;
    uvec2 labels;
    uvec2 left;     // a word; 1 is set if a link was given up
    uvec2 frequent;   // 0, or the address of a label: vertices with it are skipped
    uint skip;      // the number of lanes to skip in each row
    uint most;      // the number of lanes after those; ~0: all lanes, with all of their arcs
    uint dispatch;
    uint dispatches;
};

void main() {
    uint v = workgroup_of_all(dispatch, dispatches) * WORKGROUP + workgroup_lane();
    Row part = row_none();
    if (v < graph.vertices) {
        bool out_of_it = false;
        if ((frequent.x | frequent.y) != 0u) out_of_it = atomic_load(label_at(labels, v)) == plain_load(frequent);
        if (!out_of_it) part = row_part(row_of(graph, v), skip, most);
    }
    uint total = stage_put(v, part, 0u);
    uint rounds = lane_rounds(graph);   // for all lanes together, because no place comes after two others
    for (uint lane = workgroup_lane(); lane < total; lane += WORKGROUP) {
        uint i = stage_find(lane) & (STAGE - 1u);
        uint place = stage_firsts[i] + lane;
        do {
            uint u = neighbor_at(graph, place);
            if (neighbor_there(u) && !link(labels, stage_vertices[i], u)) atomic_or(left, 1u);
            place = place_behind(graph, place, stage_step(i));
        } while (LANES_GO_ON && most == ~0u && place != PLACE_NONE && rounds != 0u && rounds-- != 0u);
    }
}
