// Builds the index of a run, and fills its keys up to whole nodes.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sorted_run.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 index;
    uint count;   // keys
    uint words;   // of the index
};

void main() {
    uint i = invocation_index();
    if (i >= words) {
        uint at = count + (i - words);
        if (at < run_nodes(count) << RUN_NODE_SHIFT) plain_store(address_at(keys, at, 2u), ~0u);
        return;
    }
    uint pivot = i;   // its number in its level
    uint pivots = run_nodes(count);
    uint shift = RUN_NODE_SHIFT;
    for (uint whole = run_nodes(pivots) << RUN_NODE_SHIFT; pivot >= whole; whole = run_nodes(pivots) << RUN_NODE_SHIFT) {
        pivot -= whole;
        pivots = run_nodes(pivots);
        shift += RUN_NODE_SHIFT;
    }
    uint key = ~0u;
    if (pivot < pivots) key = plain_load(address_at(keys, pivot << shift, 2u));
    plain_store(address_at(index, i, 2u), key);
}
