// For the doctor: a dispatch of more workgroups than one row may have.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "litmus.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 runs;    // one word per workgroup, 0 before: how often its first lane ran
    uint count;    // the number of workgroups
};

void main() {
    uint group = invocation_index() / WORKGROUP;
    uint counted = FAULT == 0u ? group : group & 0xffffu;
    if (group < count && gl_SubgroupID == 0u && gl_SubgroupInvocationID == 0u)
        atomic_add(address_at(runs, counted, 2u), 1u);
}
