// Workgroup sum: sums over a workgroup, from one value per subgroup.
//
// Each lane adds up the subgroups' sums itself, from shared memory. NVIDIA's compiler (580.159) loses the result of a
// subgroupAdd that is used after divergent branches, and these sums are in almost every kernel. So here and elsewhere,
// use the result of a subgroupAdd at once.
#ifndef VKDS_WORKGROUP_SUM_GLSL
#define VKDS_WORKGROUP_SUM_GLSL

#include "sum.glsl"
#include "workgroup.glsl"

shared S workgroup_sums[WORKGROUP / 4u];   // no subgroup has fewer than 4 lanes

// Returns the sum over the subgroups before this one, and in `total` the sum over all. `sum` is the same in the whole
// subgroup. Collective over the workgroup. A barrier must separate two calls.
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
