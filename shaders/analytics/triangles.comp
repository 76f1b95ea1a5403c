// Counts the triangles of a graph with one arc per edge, along an order of the vertices. For each arc, it counts the
// neighbours that both ends have: it searches the neighbours of the shorter row in the longer one. The searches for all
// arcs of a workgroup are divided evenly among its invocations.
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
    uvec2 arcs_at;   // address of the number of arcs
    uvec2 count;     // a number of 64 bits, to which the number of triangles is added
    uint dispatch;
    uint dispatches;
};

shared uint stage_lanes[STAGE];   // the lengths of the longer rows; stage_vertices has their first places

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
    uint total = stage_put(longer.first, shorter, 0u);   // contains a barrier
    uint found = 0u;
    for (uint k = lane; k < total; k += WORKGROUP) {
        uint i = stage_find(k) & (STAGE - 1u);
        if (in_row(graph, neighbor_at(graph, stage_firsts[i] + k), stage_vertices[i], stage_lanes[i])) found++;
    }
    wide_add(count, found);
}
