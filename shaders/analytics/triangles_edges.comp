// Counts the triangles of a live graph by its edges (chapter 5 of Awad, Fully Concurrent GPU Data Structures, 2022):
// two targets of a vertex's arcs form a triangle with it if there is an edge between them. `rows` has one arc of each
// edge, along an order of the vertices, so that each triangle is found once.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "arc_rows.glsl"
#include "dispatches.glsl"
#define STAGE WORKGROUP
#include "stage.glsl"
#include "wide_sum.glsl"
#include "graph.glsl"

layout(push_constant, std430) uniform Push {
    Rows rows;       // one arc per edge, in no order
    uvec2 arcs_at;   // address of the number of arcs
    uvec2 count;     // a number of 64 bits, to which the number of triangles is added
    Graph graph;
    uint dispatch;
    uint dispatches;
};

void main() {
    uint arcs = min(plain_load(arcs_at), rows.arcs), lane = workgroup_lane();
    uint first = workgroup_of_all(dispatch, dispatches) * WORKGROUP;
    if (first >= arcs) return;
    uint end = min(first + WORKGROUP, arcs), place = first + lane;
    arc_rows_begin(rows, first, end);
    Row row = row_none();
    uint v = 0u;
    if (place < end) {
        row = row_of(rows, arc_row(rows, place));
        row = row_part(row, place + 1u - min(row.first, place + 1u), ~0u);
        v = neighbor_at(rows, place);
    }
    uint total = stage_put(v, row, 0u);   // contains a barrier
    uint found = 0u;
    for (uint base = 0u; base < total; base += WORKGROUP) {
        uint k = base + lane, w = 0u, value;
        uint i = stage_find(min(k, total - 1u)) & (STAGE - 1u);
        if (k < total) w = neighbor_at(rows, stage_firsts[i] + k);
        if (graph_find(graph, stage_vertices[i], w, k < total, value)) found++;
    }
    wide_add(count, found);
}
