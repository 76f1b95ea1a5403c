// For test/shader: run_search.glsl. Each workgroup searches the same run for its own keys, in the whole run or in the
// part with its keys.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../runs/run_search.glsl"

layout(push_constant, std430) uniform Push {
    RunStack stack;
    uvec2 keys;      // one per invocation, ascending
    uvec2 answers;   // two words per invocation: run_search_upper, and whether a level fitted into the cache
    uint count;      // a multiple of the workgroup size
    uint narrow;     // 1: search in the part of the run
};

void main() {
    if (workgroup_index() * WORKGROUP >= count) return;   // the whole workgroup
    uint i = workgroup_index() * WORKGROUP + workgroup_lane();
    K key = VKDS_LOAD_AT(keys, i);
    Run run = stack_run(stack, 0u);
    uint low = 0u, high = run.size;
    if (narrow != 0u) {
        uint first = workgroup_index() * WORKGROUP;
        low = run_upper(run, VKDS_LOAD_AT(keys, first));
        high = run_upper(run, VKDS_LOAD_AT(keys, first + WORKGROUP - 1u));
    }
    RunSearch search;
    bool ready = run_search_begin(run, low, high, search);
    uint upper = ~0u;
    if (ready) upper = run_search_upper(search, key);
    plain_store2(address_at(answers, i, 3u), uvec2(upper, ready ? 1u : 0u));
}
