// Flags one of the two arcs of each edge: the one to the end with more neighbours, or, if both have as many, to the
// greater number. So no vertex keeps more arcs than the square root of the number of all arcs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "arc_rows.glsl"
#include "dispatches.glsl"
#define BITMAP_BITS (8u * WORKGROUP)
#include "../primitives/bitmap.glsl"

layout(push_constant, std430) uniform Push {
    Rows graph;
    uvec2 flags;    // output: one bit per arc
    uvec2 counts;   // output: the number of set bits in each word of flags
    uint dispatch;
    uint dispatches;
};

bool kept(uint place) {
    uint u = arc_row(graph, place), v = neighbor_at(graph, place);
    uint of_u = row_of(graph, u).lanes, of_v = row_of(graph, v).lanes;
    return of_u < of_v || of_u == of_v && u < v;
}

void main() {
    uint first = workgroup_of_all(dispatch, dispatches) * BITMAP_BITS;
    if (first >= graph.arcs) return;
    uint count = min(BITMAP_BITS, graph.arcs - first);
    bitmap_clear();
    arc_rows_begin(graph, first, first + count);   // contains barriers
    for (uint base = 0u; base < BITMAP_BITS; base += WORKGROUP) {
        uint at = base + workgroup_lane();
        bool keep = false;
        if (at < count) keep = kept(first + at);
        bitmap_set_all(at, keep);
    }
    barrier();
    bitmap_store(address_at(flags, first / 32u, 2u), count);
    for (uint i = workgroup_lane(); i < (count + 31u) / 32u; i += WORKGROUP)
        plain_store_at(counts, first / 32u + i, uint(bitCount(bitmap_words[i])));
}
