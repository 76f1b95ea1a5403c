// Workgroup: the workgroup's index, and an invocation's index in it, for kernels with shared memory.
#ifndef VKDS_WORKGROUP_GLSL
#define VKDS_WORKGROUP_GLSL

#include "memory.glsl"
#include "invocation.glsl"

// 0 … workgroups-1. A dispatch of more than 65,535 workgroups is spread over y, and may have more than were asked for.
uint workgroup_index() { return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; }

// 0 … WORKGROUP-1. Lanes of a subgroup have consecutive indices.
uint workgroup_lane() { return gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID; }

#endif
