// Writes the label of each arc's target beside the arc, for label propagation.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "invocation.glsl"
#include "neighbors.glsl"
#include "dispatches.glsl"

layout(push_constant, std430) uniform Push {
    Rows graph;
    uvec2 labels;
    uvec2 keys;      // output: one word per arc
    uvec2 control;   // one word per iteration: the number of vertices whose label has changed
    uint iteration;
    uint dispatch;
    uint dispatches;
};

void main() {
    if (iteration != 0u && plain_load_at(control, iteration - 1u) == 0u) return;
    uint arc = workgroup_of_all(dispatch, dispatches) * WORKGROUP + workgroup_lane();
    if (arc < graph.arcs) plain_store_at(keys, arc, plain_load_at(labels, neighbor_at(graph, arc)));
}
