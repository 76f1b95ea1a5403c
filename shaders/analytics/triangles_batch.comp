// Counts triangles that have an edge of a batch. For each of the batch's edges, the neighbours that both its ends have:
// the shorter row's are looked for in the longer one. A triangle with several edges of the batch is met by each of
// them, so what is met goes by how many these are.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "arc_rows.glsl"
#define STAGE WORKGROUP
#include "stage.glsl"
#include "row_search.glsl"
#include "wide_sum.glsl"

layout(push_constant, std430) uniform Push {
    Rows graph;
    Rows batch;
    uvec2 counts;   // three numbers of 64 bits: what was met with one edge of the batch, with two, with three
};

shared uint stage_lanes[STAGE];   // of the longer rows; their first places are stage_vertices
shared uint stage_others[STAGE];  // the edges' ends

// Whether an edge is in the batch.
bool in_batch(uint u, uint v) {
    Row row = row_of(batch, u);
    return in_row(batch, v, row.first, row.lanes);
}

void main() {
    uint first = workgroup_index() * WORKGROUP, lane = workgroup_lane();
    if (first >= batch.arcs) return;
    uint end = min(first + WORKGROUP, batch.arcs);
    arc_rows_begin(batch, first, end);
    Row a = row_none(), b = row_none();
    uint u = 0u, v = 0u;
    if (first + lane < end) {
        u = arc_row(batch, first + lane);
        v = neighbor_at(batch, first + lane);
        if (u < v) {   // of the two arcs of an edge one
            a = row_of(graph, u);
            b = row_of(graph, v);
        }
    }
    // No neighbours in common without the edge itself, which the batch may have and the graph not.
    bool there = in_row(graph, v, a.first, a.lanes);
    bool less = a.lanes < b.lanes;
    Row shorter = less ? a : b, longer = less ? b : a;
    if (!there) shorter.lanes = 0u;
    stage_lanes[lane] = longer.lanes;
    stage_others[lane] = v;
    uint longer_first = longer.first;
    uint total = stage_put(u, shorter, longer_first);   // with a barrier
    uint met[3] = {0u, 0u, 0u};
    for (uint k = lane; k < total; k += WORKGROUP) {
        uint i = stage_find(k) & (STAGE - 1u);
        uint w = neighbor_at(graph, stage_firsts[i] + k), x = stage_vertices[i], y = stage_others[i];
        if (w == x || w == y || !in_row(graph, w, stage_values[i], stage_lanes[i])) continue;
        uint edges = (in_batch(x, w) ? 1u : 0u) + (in_batch(y, w) ? 1u : 0u);
        if (edges == 0u) met[0]++;
        else if (edges == 1u) met[1]++;
        else met[2]++;
    }
    [[unroll]] for (uint n = 0u; n < 3u; n++) {
        wide_add(address_at(counts, n, 3u), met[n]);
        barrier();
    }
}
