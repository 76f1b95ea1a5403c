// Parents on shortest paths, by their lengths: an arc leads from a vertex's parent to it that is as long as the
// difference of their distances.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "dispatches.glsl"
#define STAGE WORKGROUP
#include "stage.glsl"

layout(push_constant, std430) uniform Push {
    Rows graph;
    uvec2 distances;
    uvec2 parents;   // ~0: none yet
    uvec2 more;      // a word, 0 before; set to 1 if another pass may find more
    uint zero;       // 1: arcs of weight 0 from vertices that have a parent; 0: all other arcs
    uint dispatch;
    uint dispatches;
};

uvec2 parent_at(uint v) { return address_at(parents, v, 2u); }

void look(uint v, uint distance, uint u, uint weight) {
    uint at = plain_load_at(distances, u);
    if (at == ~0u || at < distance || at - distance != weight) return;
    if (atomic_load(parent_at(u)) != ~0u) return;
    bool now = (weight == 0u) == (zero != 0u), took = now && atomic_cas(parent_at(u), ~0u, v) == ~0u;
    if (zero == 0u ? !now : took) atomic_or(more, 1u);
}

void main() {
    uint v = workgroup_of_all(dispatch, dispatches) * WORKGROUP + workgroup_lane(), distance = 0u;
    Row part = row_none();
    if (v < graph.vertices) {
        distance = plain_load_at(distances, v);
        if (distance != ~0u && (zero == 0u || atomic_load(parent_at(v)) != ~0u)) part = row_of(graph, v);
    }
    uint total = stage_put(v, part, distance);
    for (uint lane = workgroup_lane(); lane < total; lane += WORKGROUP) {
        uint i = stage_find(lane) & (STAGE - 1u);
        uint place = stage_firsts[i] + lane, rounds = lane_rounds(graph);
        do {
            uint u = neighbor_at(graph, place);
            if (neighbor_there(u)) look(stage_vertices[i], stage_values[i], u, weight_at(graph, place));
            place = place_behind(graph, place, stage_step(i));
        } while (LANES_GO_ON && place != PLACE_NONE && rounds-- != 0u);
    }
}
