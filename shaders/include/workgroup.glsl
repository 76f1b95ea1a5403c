// Workgroup: which one this is, and an invocation's place in it, for kernels whose workgroups share memory.
#ifndef VKDS_WORKGROUP_GLSL
#define VKDS_WORKGROUP_GLSL

#include "memory.glsl"
#include "invocation.glsl"

// 0 … workgroups-1. A dispatch of more than 65,535 workgroups is spread over y and may have some to spare.
uint workgroup_index() { return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; }

// 0 … WORKGROUP-1. Lanes of a subgroup are neighbours.
uint workgroup_lane() { return gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID; }

#endif
