// Invocation: an invocation's index in the dispatch, which is the index of its operation.
//
// Declares the workgroup's size (specialization constant WORKGROUP). A dispatch of more than 65,535
// workgroups is spread over y, and may have more invocations than operations: compare the index with
// the number of operations.
#ifndef VKDS_INVOCATION_GLSL
#define VKDS_INVOCATION_GLSL

#extension GL_KHR_shader_subgroup_basic : require

#include "constants.glsl"

layout(local_size_x_id = VKDS_ID_WORKGROUP) in;
layout(constant_id = VKDS_ID_WORKGROUP) const uint WORKGROUP = 128;

// 0 … (workgroups * WORKGROUP - 1). Lanes of a subgroup have consecutive indices, because subgroups are full.
uint invocation_index() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    return group * WORKGROUP + gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
}

#endif
