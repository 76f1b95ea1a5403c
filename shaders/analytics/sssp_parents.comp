// Finds the parents of vertices on shortest paths whose lengths are known: a parent has an arc to the vertex, and its
// distance and the arc's weight add up to the vertex's distance. An arc is flat if both distances are equal: its weight
// is 0 or, among floats, too small to change the distance.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "dispatches.glsl"
#define STAGE WORKGROUP
#include "stage.glsl"
#include "weights.glsl"

layout(push_constant, std430) uniform Push {
    Rows graph;
    uvec2 distances;
    uvec2 parents;   // ~0: none yet
    uvec2 control;   // four words each of a step, of the next one, and of the one after it (these take turns): the
                     // workgroups of its dispatches, in three dimensions, and the length of its queue; then a word that
                     // is set to 1 if flat arcs lead to vertices without a parent
    uvec2 queues;    // two, which take turns: the vertices that have taken a parent in a step
    uint mode;
    uint step;
    uint dispatch;
    uint dispatches;
};

const uint MODE_RISING = 0u;   // arcs that are not flat, of all vertices
const uint MODE_QUEUE = 1u;    // flat arcs, of the vertices in the step's queue
const uint MODE_FLAT = 2u;     // flat arcs, of all vertices with a parent
const uint CONTROL_FLAT = 12u;
const uint MOST_GROUPS = 65535u;   // in a dimension, on every device

uvec2 parent_at(uint v) { return address_at(parents, v, 2u); }
uvec2 groups_at(uint s) { return address_at(control, s % 3u, 4u); }
uvec2 count_at(uint s) { return address_add(groups_at(s), 12u); }
uvec2 queue_at(uint s, uint i) { return address_at(queues, (s & 1u) * graph.vertices + i, 2u); }

void look(uint v, uint distance, uint u, uint weight) {
    uint at = plain_load_at(distances, u);
    if (at == ~0u || at < distance || path_sum(distance, weight) != at) return;
    if (atomic_load(parent_at(u)) != ~0u) return;
    bool level = at == distance;
    if (level != (mode != MODE_RISING)) {
        if (level) atomic_or(address_at(control, CONTROL_FLAT, 2u), 1u);
        return;
    }
    if (atomic_cas(parent_at(u), ~0u, v) != ~0u || mode == MODE_RISING) return;
    uint i = atomic_add(count_at(step + 1u), 1u);
    if (i >= graph.vertices) return;
    plain_store(queue_at(step + 1u, i), u);
    uint groups = min(i / WORKGROUP / max(dispatches, 1u) + 1u, MOST_GROUPS);
    if (atomic_load(groups_at(step + 1u)) < groups) atomic_max(groups_at(step + 1u), groups);
}

// Looks along the arcs of WORKGROUP of the step's vertices. Collective over the workgroup.
void look_from(uint first, uint count) {
    uint k = first + workgroup_lane(), v = 0u, distance = 0u;
    Row part = row_none();
    if (k < count) {
        v = mode != MODE_QUEUE ? k : min(plain_load(queue_at(step, k)), graph.vertices - 1u);
        distance = plain_load_at(distances, v);
        if (distance != ~0u && (mode == MODE_RISING || atomic_load(parent_at(v)) != ~0u)) part = row_of(graph, v);
    }
    uint total = stage_put(v, part, distance);
    uint rounds = lane_rounds(graph);   // for all lanes together, because no place comes after two others
    for (uint lane = workgroup_lane(); lane < total; lane += WORKGROUP) {
        uint i = stage_find(lane) & (STAGE - 1u);
        uint place = stage_firsts[i] + lane;
        do {
            uint u = neighbor_at(graph, place);
            if (neighbor_there(u)) look(stage_vertices[i], stage_values[i], u, weight_at(graph, place));
            place = place_behind(graph, place, stage_step(i));
        } while (LANES_GO_ON && place != PLACE_NONE && rounds != 0u && rounds-- != 0u);
    }
    barrier();
}

void main() {
    uint group = workgroup_of_all(dispatch, dispatches);
    if (group == 0u && workgroup_lane() == 0u)   // the step before has read them
        plain_store4(groups_at(step + 2u), uvec4(1u, 1u, 1u, 0u));
    uint count = mode != MODE_QUEUE ? graph.vertices : min(plain_load(count_at(step)), graph.vertices);
    uint apart = gl_NumWorkGroups.x * gl_NumWorkGroups.y * max(dispatches, 1u);
    for (; group < (count + WORKGROUP - 1u) / WORKGROUP; group += apart) look_from(group * WORKGROUP, count);
}
