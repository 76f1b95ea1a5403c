// Begins the peeling of cores: no vertex is peeled, and k is ~0, one before 0.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "traversal_control.glsl"

void main() {
    uint i = invocation_index();
    if (i < graph.vertices) {
        plain_store_at(values, i, row_degree(graph, i));
        plain_store_at(extra, i, ~0u);
    }
    if (i < CONTROL_WORDS) plain_store_at(control, i, i == CONTROL_OWN ? ~0u : 0u);
}
