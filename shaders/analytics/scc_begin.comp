// Begins the search for strongly connected components (scc.comp): counts each vertex's incoming arcs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "traversal_control.glsl"

// Push constants: as in scc.comp.
void main() {
    uint i = invocation_index();
    if (i < graph.vertices) {
        plain_store_at(values, i, degree_at(graph.weights, i));
        plain_store_at(marks, i, ~0u);
        plain_store_at(marks, graph.vertices + i, 0u);
    }
    // No step, no score and no pivot yet.
    if (i < CONTROL_WORDS) plain_store_at(control, i, i >= CONTROL_OWN && i < CONTROL_OWN + 3u ? ~0u : 0u);
}
