// Half an iteration of label propagation: each vertex of one half takes the most frequent label of its neighbours; of
// several the least. The halves differ from one iteration to the next, so that no two neighbours exchange their labels
// for long.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "invocation.glsl"
#include "hash.glsl"
#include "dispatches.glsl"
#define STAGE WORKGROUP
#include "stage.glsl"

layout(push_constant, std430) uniform Push {
    Rows graph;
    uvec2 labels;
    uvec2 keys;      // the neighbours' labels
    uvec2 control;   // as in label_gather.comp
    uint iteration;
    uint side;       // 0 or 1
    uint longest;    // the greatest length of a row; 0: rows may be long, and the labels ascend within each
    uint dispatch;
    uint dispatches;
};

shared uint best_counts[STAGE];
shared uint best_labels[STAGE];

uint key_at(uint place) { return plain_load_at(keys, min(place, graph.arcs - 1u)); }

// The number of a lane's keys in its row. If labels ascend, it is 0 for all but the first lane with that key.
uint count_at(uint lane, uint i, uint key) {
    uint first = stage_firsts[i] + (i != 0u ? stage_ends[i - 1u] : 0u), end = stage_firsts[i] + stage_ends[i];
    uint place = stage_firsts[i] + lane, count = 0u;
    if (longest != 0u) {
        for (uint k = 0u; k < min(end - first, longest); k++) count += key_at(first + k) == key ? 1u : 0u;
        return count;
    }
    if (place != first && key_at(place - 1u) == key) return 0u;
    uint low = place, high = end;
    while (low + 1u < high) {
        uint middle = low + (high - low) / 2u;
        if (key_at(middle) == key) low = middle;
        else high = middle;
    }
    return low + 1u - place;
}

void main() {
    if (iteration != 0u && plain_load_at(control, iteration - 1u) == 0u) return;
    uint me = workgroup_lane(), v = workgroup_of_all(dispatch, dispatches) * WORKGROUP + me;
    Row row = row_none();
    if (v < graph.vertices && ((hash_mix(v) >> (iteration & 31u)) & 1u) == side) row = row_of(graph, v);
    best_counts[me] = 0u;
    best_labels[me] = ~0u;
    uint total = stage_put(v, row, 0u);
    for (uint lane = me; lane < total; lane += WORKGROUP) {
        uint i = stage_find(lane) & (STAGE - 1u);
        uint count = count_at(lane, i, key_at(stage_firsts[i] + lane));
        if (count != 0u) atomicMax(best_counts[i], count);
    }
    barrier();
    for (uint lane = me; lane < total; lane += WORKGROUP) {
        uint i = stage_find(lane) & (STAGE - 1u), key = key_at(stage_firsts[i] + lane);
        uint count = count_at(lane, i, key);
        if (count != 0u && count == best_counts[i]) atomicMin(best_labels[i], key);
    }
    barrier();
    bool changed = false;
    if (row.lanes != 0u) {
        uint label = min(best_labels[me], graph.vertices - 1u);
        changed = label != plain_load_at(labels, v);
        if (changed) plain_store_at(labels, v, label);
    }
    uint count = subgroupAdd(changed ? 1u : 0u);
    if (gl_SubgroupInvocationID == 0u && count != 0u) atomic_add(address_at(control, iteration, 2u), count);
}
