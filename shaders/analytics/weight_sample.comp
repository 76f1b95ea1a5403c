// Samples the weights of a graph: one of a vertex in each of `count` parts of the vertices, which are equally large.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "invocation.glsl"
#include "neighbors.glsl"

layout(push_constant, std430) uniform Push {
    Rows graph;
    uvec2 samples;   // one word for each part; ~0 if no arc was found
    uint count;
};

const uint TRIES = 64u;   // vertices of a part that are looked at

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uint part = max(graph.vertices / count, 1u), first = i * part, sampled = ~0u;
    uint end = min(first + min(part, TRIES), graph.vertices);
    for (uint v = first; v < end && sampled == ~0u; v++) {
        Row row = row_of(graph, v);
        if (row.lanes != 0u && neighbor_there(neighbor_at(graph, row.first))) sampled = weight_at(graph, row.first);
    }
    plain_store_at(samples, i, sampled);
}
