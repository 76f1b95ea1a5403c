// Neighbors in compressed sparse rows (graph.CSR): each lane has exactly one arc.
#ifndef VKDS_ANALYTICS_NEIGHBORS_CSR_GLSL
#define VKDS_ANALYTICS_NEIGHBORS_CSR_GLSL

#include "memory.glsl"

struct Rows {
    uvec2 offsets;
    uvec2 targets;
    uvec2 weights;   // 0: all weights are 1
    uint vertices;
    uint arcs;
};

struct Row { uint first, lanes; };

Row row_none() { return Row(0u, 0u); }

Row row_of(Rows g, uint v) {
    uint first = min(plain_load_at(g.offsets, v), g.arcs);
    uint end = min(plain_load_at(g.offsets, v + 1u), g.arcs);
    return Row(first, max(first, end) - first);
}

// A row without its first `skip` lanes, and with at most `most` of the others.
Row row_part(Row row, uint skip, uint most) {
    return Row(row.first + skip, min(row.lanes - min(skip, row.lanes), most));
}

// The number of arcs of a vertex: of the graph, or from the array of offsets alone.
uint row_degree(Rows g, uint v) { return row_of(g, v).lanes; }
uint degree_at(uvec2 offsets, uint v) { return plain_load_at(offsets, v + 1u) - plain_load_at(offsets, v); }

// If memory is damaged, rows may overlap and have more arcs together than a word can count, so `place` may be too
// large.
uint neighbor_at(Rows g, uint place) {
    return min(plain_load_at(g.targets, min(place, g.arcs - 1u)), g.vertices - 1u);
}

uint weight_at(Rows g, uint place) {
    if ((g.weights.x | g.weights.y) == 0u) return 1u;
    return plain_load_at(g.weights, min(place, g.arcs - 1u));
}

bool neighbor_there(uint u) { return true; }

const bool LANES_GO_ON = false;
uint row_step(Row row) { return 1u; }
bool row_goes_on(Row row, bool gaps) { return false; }
uint place_behind(Rows g, uint place, uint step) { return PLACE_NONE; }
uint lane_rounds(Rows g) { return 1u; }

#endif
