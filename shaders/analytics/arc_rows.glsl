// Arc rows: finds the vertex that an arc comes from, for a workgroup with a tile of arcs. So work is divided by arcs,
// however long rows are.
#ifndef VKDS_ANALYTICS_ARC_ROWS_GLSL
#define VKDS_ANALYTICS_ARC_ROWS_GLSL

#include "invocation.glsl"
#include "workgroup.glsl"
#include "neighbors.glsl"

shared uint arc_rows_first;
shared uint arc_rows_last;

// The last vertex of some whose row begins at or before a place: of several the one that has an arc there.
uint arc_row_between(Rows g, uint place, uint low, uint high) {
    while (low < high) {
        uint middle = low + (high - low + 1u) / 2u;
        if (plain_load_at(g.offsets, middle) <= place) low = middle;
        else high = middle - 1u;
    }
    return low;
}

// Says that the places up to the end are looked for next; there is one at least, and the graph has as many arcs.
// Collective over the workgroup.
void arc_rows_begin(Rows g, uint first, uint end) {
    barrier();   // for who still looks in the tile before
    if (workgroup_lane() < 2u) {
        uint row = arc_row_between(g, workgroup_lane() == 0u ? first : end - 1u, 0u, g.vertices - 1u);
        if (workgroup_lane() == 0u) arc_rows_first = row;
        else arc_rows_last = row;
    }
    barrier();
}

uint arc_row(Rows g, uint place) { return arc_row_between(g, place, arc_rows_first, arc_rows_last); }

#endif
