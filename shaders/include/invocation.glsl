// Invocation: which operation an invocation works for.
//
// Declares the workgroup's size (specialization constant 0). A dispatch of more than 65,535
// workgroups is spread over y, so the index may pass the batch's end: compare it with the count.
#ifndef VKDS_INVOCATION_GLSL
#define VKDS_INVOCATION_GLSL

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint WORKGROUP = 128;

// 0 … (workgroups * WORKGROUP - 1). Lanes of a subgroup are neighbours, as full subgroups guarantee.
uint invocation_index() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    return group * WORKGROUP + gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
}

#endif
