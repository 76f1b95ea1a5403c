// Builds the index of a run, and pads its keys to whole nodes.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sorted_run.glsl"
#include "invocation.glsl"
#include "trace.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 index;
    uint count;   // the number of pairs
    uint words;   // the number of keys in the index
};

void main() {
    uint i = invocation_index();
    VKDS_EVENT(i == 0u, TRACE_INDEX, trace_line(keys), count)
    if (i >= words) {
        uint at = count + (i - words);
        if (at < ((count + RUN_NODE - 1u) & ~(RUN_NODE - 1u))) VKDS_STORE(address_at(keys, at, VKDS_SHIFT), K(~0u));
        return;
    }
    // Only runs of more than one node have words here.
    RunLevel level = run_top(Run(keys, uvec2(0u), uvec2(0u), index, count));
    uint pivot = i;
    for (uint whole = RUN_NODE; pivot >= whole; whole = run_level_keys(count, level.level + 1u) << RUN_NODE_SHIFT) {
        pivot -= whole;
        level.level--;
    }
    K key = K(~0u);
    if (pivot < run_level_keys(count, level.level))
        key = VKDS_LOAD(address_at(keys, pivot << (RUN_NODE_SHIFT * level.level), VKDS_SHIFT));
    VKDS_STORE(address_at(index, i, VKDS_SHIFT), key);
}
