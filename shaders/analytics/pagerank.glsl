// PageRank: common code of its kernels: sums of floats over a workgroup, and the words that hold its progress.
#ifndef VKDS_ANALYTICS_PAGERANK_GLSL
#define VKDS_ANALYTICS_PAGERANK_GLSL

#include "invocation.glsl"
#include "workgroup.glsl"
#include "neighbors.glsl"

// The words of the control block; the first two are floats.
const uint RANK_DANGLING = 0u;   // the sum of the ranks of vertices without outgoing arcs
const uint RANK_CHANGE = 1u;     // the sum of the changes of all ranks in the last iteration
const uint RANK_DONE = 2u;       // the number of iterations done
const uint RANK_ENOUGH = 3u;     // 1: the change is at most the tolerance
const uint RANK_WORDS = 4u;

float float_load_at(uvec2 a, uint i) { return uintBitsToFloat(plain_load_at(a, i)); }
void float_store_at(uvec2 a, uint i, float x) { plain_store_at(a, i, floatBitsToUint(x)); }

shared vec2 rank_sums[WORKGROUP / 4u];   // no subgroup has fewer than 4 lanes

// The sum over all lanes, returned to lane 0. Collective over the workgroup. A barrier must separate two calls.
vec2 workgroup_total(vec2 x) {
    vec2 sum = subgroupAdd(x);
    if (gl_SubgroupInvocationID == 0u) rank_sums[gl_SubgroupID] = sum;
    barrier();
    vec2 total = vec2(0.0);
    if (workgroup_lane() == 0u)
        for (uint i = 0u; i < gl_NumSubgroups; i++) total += rank_sums[i];
    return total;
}

#endif
