// Begins a traversal at one vertex: no other vertex is reached, and the vertex is the first frontier.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "traversal_control.glsl"
#include "sssp.glsl"

// Push constants. small_entries: the source; small_lanes: the number of words of marks, which become 0, except for the
// source's bit if own is 1; extra: 0, or one word per vertex, which becomes the source itself for the source and ~0 for
// others; more: the first bound of shortest paths.
void main() {
    uint i = invocation_index(), source = small_entries;
    if (i < graph.vertices) {
        plain_store_at(values, i, i == source ? 0u : ~0u);
        if ((extra.x | extra.y) != 0u) plain_store_at(extra, i, i == source ? source : ~0u);
    }
    if (i < small_lanes) plain_store_at(marks, i, own != 0u && i == source / 32u ? 1u << (source & 31u) : 0u);
    Row row = row_of(graph, source);
    uint parts = parts_of(row);
    if (i < parts) coherent_store2(address_at(queues, i, 3u), uvec2(source, i));
    if (i >= CONTROL_WORDS) return;
    uint word = 0u;
    if (i == CONTROL_ENTRIES) word = parts;
    if (i == CONTROL_LANES) word = row.lanes;
    if (i == CONTROL_BOUND) word = more;
    if (i == CONTROL_FAR_LEAST) word = ~0u;
    plain_store_at(control, i, word);
}
