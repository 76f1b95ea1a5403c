// Sums over a workgroup, of what each of its subgroups has.
//
// Each lane adds the subgroups' sums up by itself. That they come from shared memory has a reason: NVIDIA's compiler
// (580.159) loses what a subgroupAdd gives where that is to outlive branches which lanes take apart, and these sums do
// in nearly every kernel. So a subgroupAdd is for what is used at once, here and elsewhere.
#ifndef VKDS_WORKGROUP_SUM_GLSL
#define VKDS_WORKGROUP_SUM_GLSL

#include "sum.glsl"
#include "workgroup.glsl"

shared S workgroup_sums[WORKGROUP / 4u];   // no subgroup has fewer than 4 lanes

// Returns the sum over the subgroups before this one; total is that over all. sum is the same in the whole subgroup.
// Collective over the workgroup. Between two calls lies a barrier.
S workgroup_before(S sum, out S total) {
    if (gl_SubgroupInvocationID == 0u) workgroup_sums[gl_SubgroupID] = sum;
    barrier();
    S before = S(0u);
    total = S(0u);
    for (uint i = 0u; i < gl_NumSubgroups; i++) {
        if (i == gl_SubgroupID) before = total;
        SUM_ADD(total, workgroup_sums[i]);
    }
    return before;
}

#endif
