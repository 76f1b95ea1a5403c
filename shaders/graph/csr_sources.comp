// Writes the source vertex of each arc.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../analytics/arc_rows.glsl"

layout(push_constant, std430) uniform Push {
    Rows graph;
    uvec2 sources;   // output: one word per arc
};

const uint TILE_ARCS = 8u;   // per invocation

void main() {
    uint first = workgroup_index() * TILE_ARCS * WORKGROUP;
    if (first >= graph.arcs) return;
    uint end = min(first + TILE_ARCS * WORKGROUP, graph.arcs);
    arc_rows_begin(graph, first, end);
    for (uint place = first + workgroup_lane(); place < end; place += WORKGROUP)
        plain_store_at(sources, place, arc_row(graph, place));
}
