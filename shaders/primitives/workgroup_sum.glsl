// Sums over a workgroup, of what each of its subgroups has.
#ifndef VKDS_WORKGROUP_SUM_GLSL
#define VKDS_WORKGROUP_SUM_GLSL

#include "workgroup.glsl"

shared uint workgroup_sums[WORKGROUP / 4u];   // no subgroup has fewer than 4 lanes

// Returns the sum over the subgroups before this one; total is that over all. sum is the same in the whole subgroup.
// Collective over the workgroup. Between two calls lies a barrier.
// What is to outlive branches that lanes take apart had better lie in shared memory: top_k_take.comp says why.
uint workgroup_before(uint sum, out uint total) {
    if (gl_SubgroupInvocationID == 0u) workgroup_sums[gl_SubgroupID] = sum;
    barrier();
    uint before = 0u, all = 0u;
    for (uint first = 0u; first < gl_NumSubgroups; first += gl_SubgroupSize) {
        uint i = first + gl_SubgroupInvocationID;
        uint s = i < gl_NumSubgroups ? workgroup_sums[i] : 0u;
        all += s;
        if (i < gl_SubgroupID) before += s;
    }
    total = subgroupAdd(all);
    return subgroupAdd(before);
}

#endif
