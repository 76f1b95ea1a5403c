// Wide sum: a number of 64 bits in memory, as two words, to which workgroups add.
#ifndef VKDS_ANALYTICS_WIDE_SUM_GLSL
#define VKDS_ANALYTICS_WIDE_SUM_GLSL

#include "workgroup.glsl"

shared uint wide_subtotals[WORKGROUP / 4u];   // no subgroup has fewer than 4 lanes

// Adds x of all lanes, whose sum must be below 2^32. Collective over the workgroup. A barrier must separate two calls.
void wide_add(uvec2 number, uint x) {
    uint sum = subgroupAdd(x);
    if (gl_SubgroupInvocationID == 0u) wide_subtotals[gl_SubgroupID] = sum;
    barrier();
    uint total = 0u;
    if (workgroup_lane() == 0u)
        for (uint i = 0u; i < gl_NumSubgroups; i++) total += wide_subtotals[i];
    if (total == 0u) return;
    uint before = atomic_add(number, total);
    if (before + total < before) atomic_add(address_add(number, 4u), 1u);
}

#endif
