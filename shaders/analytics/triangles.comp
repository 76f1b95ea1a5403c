// Counts triangles of a graph whose edges have one arc each, along an order of vertices: for each arc, the neighbours
// that both its ends have. The shorter row's are looked for in the longer one, by binary search, and all of a
// workgroup's arcs share out their searches evenly.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "arc_rows.glsl"
#include "dispatches.glsl"
#define STAGE WORKGROUP
#include "stage.glsl"
#include "row_search.glsl"
#include "wide_sum.glsl"

layout(push_constant, std430) uniform Push {
    Rows graph;
    uvec2 arcs_at;   // a word: how many arcs there are
    uvec2 count;     // a number of 64 bits, to which triangles are added
    uint dispatch;
    uint dispatches;
};

shared uint stage_lanes[STAGE];   // of the longer rows; their first places are stage_vertices

void main() {
    uint arcs = min(plain_load(arcs_at), graph.arcs), lane = workgroup_lane();
    uint first = workgroup_of_all(dispatch, dispatches) * WORKGROUP;
    if (first >= arcs) return;
    uint end = min(first + WORKGROUP, arcs);
    arc_rows_begin(graph, first, end);
    Row a = row_none(), b = row_none();
    if (first + lane < end) {
        a = row_of(graph, arc_row(graph, first + lane));
        b = row_of(graph, neighbor_at(graph, first + lane));
    }
    bool less = a.lanes < b.lanes;
    Row shorter = less ? a : b, longer = less ? b : a;
    stage_lanes[lane] = longer.lanes;
    uint total = stage_put(longer.first, shorter, 0u);   // with a barrier
    uint found = 0u;
    for (uint k = lane; k < total; k += WORKGROUP) {
        uint i = stage_find(k) & (STAGE - 1u);
        if (in_row(graph, neighbor_at(graph, stage_firsts[i] + k), stage_vertices[i], stage_lanes[i])) found++;
    }
    wide_add(count, found);
}
