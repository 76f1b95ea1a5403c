// Begins a traversal from one vertex: no other vertex is reached, and the vertex is the first frontier.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "traversal_control.glsl"
#include "sssp.glsl"

// small_lanes: words of marks, all 0 but for the bit of the source where own is 1; small_entries: the source; extra: 0,
// or a word a vertex that is ~0 at first; more: delta, of shortest paths.
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
