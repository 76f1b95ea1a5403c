// Arc rows: finds the source vertex of an arc, for a workgroup with a tile of arcs. So work can be divided by arcs,
// however long rows are.
#ifndef VKDS_ANALYTICS_ARC_ROWS_GLSL
#define VKDS_ANALYTICS_ARC_ROWS_GLSL

#include "invocation.glsl"
#include "workgroup.glsl"
#include "neighbors.glsl"

shared uint arc_rows_first;
shared uint arc_rows_last;

// The last vertex of low … high whose row begins at or before a place. If several do, that one has the arc there.
uint arc_row_between(Rows g, uint place, uint low, uint high) {
    while (low < high) {
        uint middle = low + (high - low + 1u) / 2u;
        if (plain_load_at(g.offsets, middle) <= place) low = middle;
        else high = middle - 1u;
    }
    return low;
}

// Prepares arc_row for the places first … end-1. There must be at least one, and the graph must have as many arcs.
// Collective over the workgroup.
void arc_rows_begin(Rows g, uint first, uint end) {
    barrier();   // lanes may still be searching the previous tile
    if (workgroup_lane() < 2u) {
        uint row = arc_row_between(g, workgroup_lane() == 0u ? first : end - 1u, 0u, g.vertices - 1u);
        if (workgroup_lane() == 0u) arc_rows_first = row;
        else arc_rows_last = row;
    }
    barrier();
}

uint arc_row(Rows g, uint place) { return arc_row_between(g, place, arc_rows_first, arc_rows_last); }

#endif
