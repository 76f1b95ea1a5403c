// Measures a live graph before an analysis: its arcs, the greatest number of queue entries, and its extent.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "traversal_control.glsl"
#include "wide_sum.glsl"

// Push constants. values: two numbers of 64 bits, 0 before, and then a word, which becomes the extent; marks: the
// graph's counters. graph.vertices is the number of descriptors.
const uint EACH = 8u;   // vertices of an invocation: all workgroups add to the same words

void main() {
    uint v = workgroup_index() * EACH * WORKGROUP + workgroup_lane(), arcs = 0u, parts = 0u;
    if (v == 0u) plain_store_at(values, 4u, plain_load_at(marks, GRAPH_EXTENT_AT / 4u));
    for (uint k = 0u; k < EACH && v < graph.vertices; k++, v += WORKGROUP) {
        Row row = row_of(graph, v);
        if (row.lanes == 0u) continue;
        arcs += row_degree(graph, v);
        parts += parts_of(row);
    }
    wide_add(values, arcs);
    barrier();
    wide_add(address_add(values, 8u), parts);
}
