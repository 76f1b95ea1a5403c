// Measures a live graph before an analysis: its arcs, its extent, the greatest number of queue entries, and the scale
// of its weights.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "traversal_control.glsl"
#include "wide_sum.glsl"

// Push constants. values: MEASURES numbers of 64 bits, 0 before, and then a word, which becomes the extent; marks: the
// graph's counters. graph.vertices is the number of descriptors.
const uint MEASURES = 5u;
const uint EACH = 8u;   // vertices of an invocation: all workgroups add to the same words

void main() {
    uint v = workgroup_index() * EACH * WORKGROUP + workgroup_lane();
    if (v == 0u) plain_store_at(values, 2u * MEASURES, plain_load_at(marks, GRAPH_EXTENT_AT / 4u));
    uint measures[MEASURES] = {0u, 0u, 0u, 0u, 0u};
    for (uint k = 0u; k < EACH && v < graph.vertices; k++, v += WORKGROUP) {
        Row row = row_of(graph, v);
        if (row.lanes == 0u) continue;
        measures[0] += row_degree(graph, v);
        measures[1] += parts_of(row);
        if (measures[2] == 0u && neighbor_there(neighbor_at(graph, row.first))) {   // one weight of them is sampled
            uint weight = weight_at(graph, row.first);
            measures[2] = 1u;
            measures[3] = weight & 0xffffu;
            measures[4] = weight >> 16;
        }
    }
    [[unroll]] for (uint i = 0u; i < MEASURES; i++) {
        wide_add(address_at(values, i, 3u), measures[i]);
        barrier();
    }
}
